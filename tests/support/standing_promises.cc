#include "tests/support/standing_promises.h"

namespace espalier::master {

StandingPromises::StandingPromises(const MasterState& state, const std::set<PlanId>& plans) {
  for (const auto& [id, run] : state.runs) {
    if (plans.contains(run.plan)) AddRun(state.plans.at(run.plan), run);
  }
}

const std::vector<StandingPromise>& StandingPromises::On(PlanNodeId node) const {
  static const std::vector<StandingPromise> kNone;
  const auto promises = promises_.find(node);
  return promises == promises_.end() ? kNone : promises->second;
}

// One that was withdrawn and whose file came all the same stood until then: it should not have been withdrawn. One that
// was lost stood until just before: what is ordered in that transition may train there again.
void StandingPromises::AddRun(const SearchPlan& plan, const Run& run) {
  for (const auto& [id, promise] : run.promises) {
    if (promise.owed != Owed::kState) continue;
    const Point point = PointOf(run, promise.step);
    std::optional<Time> until = promise.settled_at;
    const Checkpoint* checkpoint = plan.FindCheckpoint(point);
    const bool came = checkpoint != nullptr && checkpoint->run == run.id;
    if (promise.state == PromiseState::kLost) *until -= Time::duration(1);
    if (promise.state == PromiseState::kWithdrawn && came) *until = std::max(*until, checkpoint->stored_at);
    promises_[point.node].push_back({point.step, run.id, promise.made_at, until});
  }
}

}  // namespace espalier::master
