// What stands, by the edits alone: checkpoints, and open promises of states. It tells whether a run that is ordered
// would train what need not be trained (law 3). It knows nothing of the scheduler and its index. One thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include "master/core/state/state_edit.h"

namespace espalier::sim {

class Ledger {
 public:
  // Begins afresh with what is loaded.
  void Load(const master::MasterState& state);

  // Enters a change. What is wasteful about it, if anything: one sentence.
  std::string Enter(const master::MasterState& state, const master::StateChange& change);

 private:
  void Promise(const master::Run& run, const master::Promise& promise);
  void Unpromise(PromiseId promise);
  std::string WasteOf(const master::Run& run) const;

  struct NodeStates {
    std::set<Step> checkpoints;
    std::map<Step, std::set<PromiseId>> promises;
  };
  std::map<PlanNodeId, NodeStates> nodes_;
  std::map<PromiseId, Point> promised_;
};

}  // namespace espalier::sim
