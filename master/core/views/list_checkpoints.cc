#include "master/core/views/list_checkpoints.h"

#include <algorithm>

#include "master/core/state/list_place.h"
#include "master/core/state/visibility.h"
#include "master/core/views/plan_view.h"

namespace espalier::master {
namespace {

constexpr char kList = 'c';  // in its tokens
using Place = ListPlace<PlanNodeId>;

}  // namespace

Result<CheckpointPage> ListCheckpoints(const MasterState& part, StudyId study, std::size_t count_max,
                                       const std::string& token) {
  ESPALIER_ASSIGN(const std::optional<Place> place, PlaceOf<PlanNodeId>(kList, token));
  std::optional<Point> after;
  if (place) after = Point{place->id, Step{static_cast<std::int64_t>(place->value)}};
  CheckpointPage page;
  for (const PlanNodeView& node : ViewPlan(part, study)) {
    for (const Step step : node.checkpoints) {
      const Point point{node.id, step};
      if (after && point <= *after) continue;
      page.checkpoints.push_back({point, *part.plans.at(node.plan).FindCheckpoint(point)});
    }
  }
  std::ranges::sort(page.checkpoints, {}, &ListedCheckpoint::point);
  if (page.checkpoints.size() <= count_max) return page;
  page.checkpoints.resize(count_max);
  const Point last = page.checkpoints.back().point;
  page.next_token = TokenOf(kList, Place{.value = static_cast<double>(last.step.value), .id = last.node});
  return page;
}

std::vector<ListedCheckpoint> CheckpointsOf(const MasterState& state, TrialId id) {
  const Trial& trial = state.trials.at(id);
  const SearchPlan& plan = state.plans.at(trial.plan);
  const auto may_see = [&](Point point) {
    return !IsOfEveryone(plan) ||
           std::ranges::any_of(trial.claims, [&](ClaimId claim) { return plan.claims.at(claim).point == point; });
  };
  std::vector<ListedCheckpoint> checkpoints;
  for (const StepRange& range : LineageRanges(plan, trial.leaf, trial.horizon)) {
    for (const auto& [step, checkpoint] : plan.Node(range.node).results->checkpoints) {
      const Point point{range.node, step};
      if (step <= range.to && may_see(point)) checkpoints.push_back({point, checkpoint});
    }
  }
  return checkpoints;
}

}  // namespace espalier::master
