#include "master/core/state/stages.h"

#include <algorithm>

namespace espalier::master {
namespace {

constexpr std::size_t kPlacesMax = 10'000;  // looked at to tell whether a team has a claim there

const NeedIndex* NeedsOf(const MasterState& state, PlanId plan) {
  const auto needs = state.index.needs.find(plan);
  return needs == state.index.needs.end() ? nullptr : &needs->second;
}

const SearchPlan* PlanWith(const MasterState& state, Point point) {
  for (const auto& [id, plan] : state.plans) {
    const auto node = plan.nodes.find(point.node);
    if (node != plan.nodes.end()) return point.step > node->second.start ? &plan : nullptr;
  }
  return nullptr;
}

bool IsOfTeam(const MasterState& state, const SearchPlan& plan, ClaimId claim, const Caller& caller) {
  return MaySee(caller, state.studies.at(state.trials.at(plan.claims.at(claim).trial).study));
}

// Where everyone shares, what some asked of a plan is no matter of the others.
bool ConcernsCaller(const MasterState& state, const SearchPlan& plan, Point point, const Caller& caller) {
  const auto is_of_team = [&](ClaimId claim) { return IsOfTeam(state, plan, claim, caller); };
  const auto any = [&](const std::vector<ClaimId>& claims) {
    return std::any_of(claims.begin(), claims.end(), is_of_team);
  };
  return any(plan.ClaimsAt(point)) || any(ClaimsWanting(state, plan, point, kPlacesMax).claims) ||
         any(ClaimsFailedAt(plan, point));
}

// Walks down from a point, node by node.
class Descent {
 public:
  Descent(const NeedIndex& needs, const SearchPlan& plan, std::size_t places_max)
      : needs_(needs), plan_(plan), left_(places_max) {}

  WantingClaims From(Point point) {
    Visit(point.node, point.step);
    while (!open_.empty() && wanting_.complete) {
      const PlanNodeId node = open_.back();
      open_.pop_back();
      Visit(node, plan_.Node(node).start + 1);
    }
    return std::move(wanting_);
  }

 private:
  bool Count() {
    if (left_ == 0) wanting_.complete = false;
    return left_ > 0 && left_-- > 0;
  }

  void Visit(PlanNodeId node, Step from) {
    const auto needed = needs_.nodes().find(node);
    if (needed == needs_.nodes().end()) return;
    const auto& places = needed->second.places;
    std::optional<Step> stored_at;  // the first checkpoint after the beginning
    for (auto place = places.lower_bound(from); place != places.end() && Count(); ++place) {
      if (place->second.stored && place->first > from) {
        stored_at = place->first;
        break;
      }
      for (const auto& [evaluation, waiting] : place->second.waiting) {
        wanting_.claims.insert(wanting_.claims.end(), waiting.claims.begin(), waiting.claims.end());
      }
    }
    for (const PlanNodeId child : plan_.Node(node).children) {
      if (!Count()) return;
      const Step start = plan_.Node(child).start;
      const bool below = start >= from && (!stored_at || start < *stored_at);
      if (below && needs_.nodes().contains(child)) open_.push_back(child);
    }
  }

  const NeedIndex& needs_;
  const SearchPlan& plan_;
  std::size_t left_;
  std::vector<PlanNodeId> open_;
  WantingClaims wanting_;
};

}  // namespace

std::string NameOf(Point point) { return std::to_string(point.node.value) + "@" + std::to_string(point.step.value); }

StageBeginning StageOf(const Run& run) {
  if (run.path.empty()) return {*run.start, run.evaluation};
  return {{run.path.front().node, run.path.front().from}, ""};
}

bool IsAtOrBeyond(const SearchPlan& plan, Point point, Point through) {
  while (point.node != through.node) {
    const PlanNode& node = plan.Node(point.node);
    if (!node.parent || node.start < through.step) return false;
    point = {*node.parent, node.start};
  }
  return point.step >= through.step;
}

WantingClaims ClaimsWanting(const MasterState& state, const SearchPlan& plan, Point point, std::size_t places_max) {
  const NeedIndex* needs = NeedsOf(state, plan.id);
  return needs == nullptr ? WantingClaims{} : Descent(*needs, plan, places_max).From(point);
}

std::vector<ClaimId> ClaimsFailedAt(const SearchPlan& plan, Point point) {
  std::vector<ClaimId> failed;
  for (const ClaimId id : plan.failed) {
    const Claim& claim = plan.claims.at(id);
    if (!IsAtOrBeyond(plan, claim.point, point)) continue;
    const std::vector<ClaimId>& there = plan.ClaimsAt(claim.point);
    const bool made_again = std::any_of(there.rbegin(), there.rend(), [&](ClaimId other) {
      return other > id && plan.claims.at(other).trial == claim.trial;
    });
    if (!made_again) failed.push_back(id);
  }
  return failed;
}

Result<const SearchPlan*> FindStage(const MasterState& state, Point point, const Caller& caller) {
  const SearchPlan* plan = PlanWith(state, point);
  const bool known = plan != nullptr && MayKnow(state, *plan, caller.team) &&
                     (!IsOfEveryone(*plan) || ConcernsCaller(state, *plan, point, caller));
  if (known) return plan;
  return MakeError(ErrorCode::kNotFound,
                   "no stage " + NameOf(point) + "; `espalier plan show STUDY` shows a study's nodes and their steps",
                   "stage");
}

std::optional<NeededStage> NeededAt(const MasterState& state, const SearchPlan& plan, Point point) {
  const NeedIndex* needs = NeedsOf(state, plan.id);
  if (needs == nullptr) return std::nullopt;
  const auto node = needs->nodes().find(point.node);
  if (node == needs->nodes().end()) return std::nullopt;
  const auto end = node->second.places.lower_bound(point.step);
  if (end == node->second.places.end() || !end->second.hangs) return std::nullopt;
  NeededStage stage{.end = {point.node, end->first}, .source = {}, .head_end = {}, .head = {}};
  for (Point below = stage.end;;) {
    const Point above = needs->Above(plan, below).value();
    stage.source = above;
    stage.head_end = below;
    stage.head = below.node;
    const Place* place = needs->Find(above);
    if (place == nullptr || place->has_state()) return stage;
    below = above;
  }
}

}  // namespace espalier::master
