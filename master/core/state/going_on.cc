#include "master/core/state/going_on.h"

#include <algorithm>

#include "master/core/state/cache_keeper.h"

namespace espalier::master {
namespace {

// Those that part from the run's path at the point.
void NoteParting(MasterState& state, const Run& run, Point point) {
  const auto ends = state.index.open_ends.find(point.node);
  if (ends == state.index.open_ends.end()) return;
  const auto next = std::ranges::find_if(run.path, [&](const PathStage& stage) { return stage.from == point.step; });
  auto end = ends->second.lower_bound({point.step, PlanNodeId{0}});
  for (; end != ends->second.end() && end->first.first == point.step; ++end) {
    if (next != run.path.end() && end->first.second == next->node) continue;
    for (const auto& [study, count] : end->second.parting.counts()) state.index.going_on[study].might += count;
  }
}

}  // namespace

void NoteSavesOnTheWay(MasterState& state, const Run& run) {
  for (const auto& [id, promise] : run.promises) {
    if (promise.state != PromiseState::kOpen || promise.owed != Owed::kState) continue;
    const Point point = PointOf(run, promise.step);
    if (!IsStateWanted(state, run.plan, point)) NoteParting(state, run, point);
  }
}

void NoteWentOn(MasterState& state, const SearchPlan& plan, const Trial& trial, const Claim& before,
                const Claim& claim) {
  const std::optional<Point> from = LastCheckpointBefore(plan, claim.point);
  if (from && from->step > before.point.step) ++state.index.going_on[trial.study].did;
}

}  // namespace espalier::master
