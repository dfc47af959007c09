#include "master/core/views/standing_promises.h"

#include <algorithm>

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

// A target that changes (also evaluate, say) is withdrawn and made anew at the same moment: the promise of the state
// goes on, so its beginning is carried over.
void StandingPromises::AddRun(const Run& run) {
  const RunView view = ViewOf(run);
  struct Withdrawn {
    Step step;
    Time from{};
    Time at{};
  };
  std::optional<Withdrawn> withdrawn;
  for (const Promise& promise : run.promises) {
    if (!promise.target.save) continue;
    Time from = promise.made_at;
    if (withdrawn && withdrawn->step == promise.target.step && withdrawn->at == promise.made_at) from = withdrawn->from;
    withdrawn.reset();
    switch (promise.state) {
      case PromiseState::kOpen:
      case PromiseState::kStored: {
        const Point point = PointOnPath(view, promise.target.step);
        promises_[point.node].push_back({point.step, run.id, from, promise.settled_at});
        break;
      }
      case PromiseState::kWithdrawn:
        withdrawn = Withdrawn{promise.target.step, from, promise.settled_at.value_or(promise.made_at)};
        break;
      case PromiseState::kLost:
        break;
    }
  }
}

}  // namespace espalier::master
