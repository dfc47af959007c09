#include "tests/support/standing_promises.h"

namespace espalier::master {

StandingPromises::StandingPromises(const MasterState& state, const std::set<PlanId>& plans) {
  for (const auto& [id, run] : state.runs) {
    if (plans.contains(run.plan)) AddRun(run);
  }
}

const std::vector<StandingPromise>& StandingPromises::On(PlanNodeId node) const {
  static const std::vector<StandingPromise> kNone;
  const auto promises = promises_.find(node);
  return promises == promises_.end() ? kNone : promises->second;
}

// One that was lost stood until just before: what is ordered in that transition may train there again.
void StandingPromises::AddRun(const Run& run) {
  for (const auto& [id, promise] : run.promises) {
    if (promise.owed != Owed::kState) continue;
    const Point point = PointOf(run, promise.step);
    std::optional<Time> until = promise.settled_at;
    if (promise.state == PromiseState::kLost) *until -= Time::duration(1);
    promises_[point.node].push_back({point.step, run.id, promise.made_at, until});
  }
}

}  // namespace espalier::master
