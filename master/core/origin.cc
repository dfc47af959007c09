#include "master/core/origin.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "master/core/calls/trial_edits.h"
#include "master/core/settling.h"
#include "master/core/state/stages.h"
#include "searchplan/plan/insert_trial.h"
#include "searchplan/sequence/projection.h"

namespace espalier::master {
namespace {

constexpr const char* kField = "reuse_from_study_id";

tl::unexpected<Error> NotReusable(StudyId study, const std::string& why) {
  return MakeError(ErrorCode::kInvalidArgument, "study " + std::to_string(study.value) + " " + why, kField);
}

// What the new trainer would have to say of each hyper-parameter of the old one.
Result<void> CheckSchemas(const Study& old, const Study& study) {
  const Schema& now = study.training.schema;
  for (const HyperParameter& before : old.training.schema.hyper_parameters) {
    const HyperParameter* declared = now.Find(before.name);
    if (declared == nullptr && !now.takes_any) {
      return NotReusable(old.id,
                         "was trained with hyper-parameter " + before.name +
                             ", which the trainer does not have any more: keep it, with a default, or train anew");
    }
    if (declared != nullptr && declared->type != before.type) {
      return NotReusable(old.id, "was trained with hyper-parameter " + before.name + " of type " +
                                     std::string(Name(before.type)) + ", which is " +
                                     std::string(Name(declared->type)) + " now: keep its type, or train anew");
    }
  }
  return {};
}

// States that some study's plan has, or had, on the path of a trial; those that its own code trained all along first.
class StatesOnPath {
 public:
  StatesOnPath(const MasterState& state, Step until) : state_(state), until_(until) {}

  // `segments`: the trial's, as the study's trainer would have them.
  std::vector<Origin> Of(const Study& study, const std::vector<JointSegment>& segments) const {
    std::vector<Origin> states;
    const auto known = state_.plan_by_identity.find(DigestOf(PlanIdentityOf(study, TrialId{})));
    if (known == state_.plan_by_identity.end()) return states;
    const SearchPlan& plan = state_.plans.at(known->second);
    AddFrom(plan, nullptr, segments, states);
    const std::optional<Reuse>& reuse = study.specification.reuse;
    if (!reuse) return states;
    const Study& older = state_.studies.at(reuse->study);
    for (const Origin& origin : Of(older, Projected(segments, study.training.schema, older.training.schema))) {
      if (AddFrom(plan, &origin, segments, states)) states.push_back(origin);
    }
    return states;
  }

 private:
  // Those past the origin. False if no lineage of the plan begins so.
  bool AddFrom(const SearchPlan& plan, const Origin* origin, const std::vector<JointSegment>& segments,
               std::vector<Origin>& states) const {
    const Step behind = origin == nullptr ? Step{0} : origin->point.step;
    std::optional<PlanNodeId> parent;
    for (std::size_t i = 0; i < segments.size() && segments[i].start < until_; ++i) {
      const auto id = FindPlanNode(plan, parent, segments[i].start, PackedConfiguration(segments[i].configuration),
                                   parent ? nullptr : origin);
      if (!id) return parent.has_value();
      const PlanNode& node = plan.Node(*id);
      const Step end = i + 1 < segments.size() ? std::min(segments[i + 1].start, until_) : until_;
      const auto& digests = node.results->state_digests;
      for (auto it = digests.upper_bound(std::max(node.start, behind)); it != digests.end() && it->first <= end; ++it) {
        states.push_back({plan.id, {*id, it->first}, node.lineage});
      }
      parent = id;
    }
    return true;
  }

  const MasterState& state_;
  const Step until_;
};

std::string WhyLost(const SearchPlan& from, const Origin& origin, Point begins) {
  const TrainingIdentity& training = from.identity.training;
  return "training begins here with a state that other code left (trainer " + training.trainer + ", code " +
         training.code_digest + ", stage " + NameOf(origin.point) +
         "), and its checkpoint is gone. Have it trained there again (espalier checkpoint export TRIAL FILE --train, "
         "of a "
         "trial of that study), then: espalier stage retry " +
         NameOf(begins);
}

// What waits at the point and beyond, and cannot be trained from anywhere else.
void TakeOverOrFail(Draft& draft, PlanId plan, const Origin& origin, Point begins) {
  const SearchPlan& from = draft.state().plans.at(origin.plan);
  if (const Checkpoint* stands = from.FindCheckpoint(origin.point)) {
    draft.Do(plan, {SetCheckpoint{begins, *stands, *from.FindStateDigest(origin.point)}});
    return;
  }
  const std::string why = WhyLost(from, origin, begins);
  draft.Log(LogLevel::kWarning, "the state that training begins with is gone",
            {{"node", origin.point.node}, {"step", origin.point.step}, {"plan", plan}});
  draft.Do(plan, {SetFailure{begins, Failure{Failure::Kind::kTrainer, why}}});
}

// Where the lineages begin of what waits below the root, and has no state to be trained from.
std::set<Point> BeginningsBelow(const MasterState& state, const SearchPlan& plan, PlanNodeId root) {
  const NeedIndex& needs = state.index.needs.at(plan.id);
  const Step step = plan.origins.at(root).point.step;
  std::set<Point> beginnings;
  for (const auto& [claim, waits_at] : needs.WaitingFrom(plan, {root, Step{0}})) {
    if (!needs.StateFor(plan, waits_at)) beginnings.insert(PointOn(plan, waits_at.node, step));
  }
  return beginnings;
}

// Whether the segments enter nodes of the plan alone, as far as those that begin before the origin's step go.
bool GoesThrough(const SearchPlan& plan, const Origin& origin, const std::vector<JointSegment>& segments) {
  std::optional<PlanNodeId> parent;
  for (const JointSegment& segment : segments) {
    if (segment.start >= origin.point.step) break;
    const PackedConfiguration configuration(segment.configuration);
    parent = FindPlanNode(plan, parent, segment.start, configuration, parent ? nullptr : &origin);
    if (!parent) return false;
  }
  return true;
}

}  // namespace

Result<void> CheckReuse(const MasterState& state, const Caller& caller, const Study& study) {
  const std::optional<Reuse>& reuse = study.specification.reuse;
  if (!reuse) return {};
  if (reuse->until && (*reuse->until < Step{1} || *reuse->until > kStepMax)) {
    return MakeError(ErrorCode::kInvalidArgument, "expected 1 to 2^53, got " + std::to_string(reuse->until->value),
                     "reuse_until_step");
  }
  const auto found = FindStudy(state, reuse->study, caller);
  if (!found.has_value()) return MakeError(found.error().code, found.error().message, kField);
  const Study& old = **found;
  if (old.training.step != study.training.step) {
    return NotReusable(old.id, "counts steps otherwise: give this one the same `step`");
  }
  if (ScopeOf(old) == Scope::kNobody) return NotReusable(old.id, "shares its states with nobody, not with this one");
  ESPALIER_RETURN_IF_ERROR(CheckSchemas(old, study));
  if (DigestOf(PlanIdentityOf(old, TrialId{})) == DigestOf(PlanIdentityOf(study, TrialId{}))) {
    return NotReusable(old.id, "is of the same code, and shares with this one by itself: leave reuse_from out");
  }
  return {};
}

std::optional<Origin> FindOrigin(const MasterState& state, const Study& study, const ResolvedTrial& trial,
                                 std::optional<PlanId> plan, Time before) {
  const std::optional<Reuse>& reuse = study.specification.reuse;
  if (!reuse) return std::nullopt;
  const Step until = std::min(trial.trial->steps, reuse->until.value_or(trial.trial->steps));
  const Study& old = state.studies.at(reuse->study);
  const std::vector<JointSegment> segments = Projected(trial.segments, study.training.schema, old.training.schema);
  std::optional<Origin> deepest;
  for (const Origin& each : StatesOnPath(state, until).Of(old, segments)) {
    if (deepest && each.point.step <= deepest->point.step) continue;
    const Checkpoint* stands = state.plans.at(each.plan).FindCheckpoint(each.point);
    if (stands != nullptr && stands->stored_at <= before) deepest = each;
  }
  return deepest && deepest->plan != plan ? deepest : std::nullopt;
}

std::optional<Origin> OriginOfContinuation(const MasterState& state, const Study& study, const ResolvedTrial& trial,
                                           const Trial& before) {
  const SearchPlan& plan = state.plans.at(before.plan);
  const Origin* origin = OriginOf(plan, before.leaf);
  if (origin == nullptr) return std::nullopt;
  if (origin->point.step <= trial.trial->steps && GoesThrough(plan, *origin, trial.segments)) return *origin;
  return FindOrigin(state, study, trial, plan.id, study.created_at);
}

void TakeOverStates(Draft& draft) {
  const std::set<PlanId> plans = draft.touched.plans;
  for (const PlanId id : plans) {
    const auto needs = draft.state().index.needs.find(id);
    if (needs == draft.state().index.needs.end()) continue;
    const std::set<PlanNodeId> roots = needs->second.rootless();
    for (const PlanNodeId root : roots) {
      const SearchPlan& plan = draft.state().plans.at(id);
      for (const Point begins : BeginningsBelow(draft.state(), plan, root)) {
        TakeOverOrFail(draft, id, plan.origins.at(root), begins);
      }
    }
    if (!roots.empty()) SettleTouched(draft);
  }
}

void DropFile(Draft& draft, PlanId plan, Point point, const std::string& file) {
  const Origin* origin = OriginAt(draft.state().plans.at(plan), point);
  const std::pair<PlanId, Point> own =
      origin == nullptr ? std::pair(plan, point) : std::pair(origin->plan, origin->point);
  std::set<std::pair<PlanId, Point>> places = {own};
  if (const auto taken_over = draft.state().index.taken_over.find(own.second);
      taken_over != draft.state().index.taken_over.end()) {
    places.insert(taken_over->second.begin(), taken_over->second.end());
  }
  for (const auto& [in_plan, at] : places) draft.Do(in_plan, {DropCheckpoint{at, file}});
}

}  // namespace espalier::master
