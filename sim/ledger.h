// What stands, by the edits alone: checkpoints with their files, and open promises of states. It tells whether a run
// that is ordered would train what need not be trained (law 3), whether a report about a file dropped another (law 6),
// whether a promise was withdrawn or a file evicted that is needed, and whether a study was finished too early (law 8).
// It knows nothing of the scheduler and its index. One thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "master/core/state/state_edit.h"

namespace espalier::sim {

class Ledger {
 public:
  // Begins afresh with what is loaded.
  void Load(const master::MasterState& state);

  // Enters what one event changed; `state` is as it is after it. What is wrong about it, if anything: one sentence.
  // `said_lost`: where the event says that a file is lost; what else is dropped is evicted. O(changes x log states +
  // claims of the studies that it finishes + waiting claims of plans where something is evicted).
  std::string Enter(const master::MasterState& state, const master::StateEdit& edit, const std::set<Point>& said_lost);

 private:
  void Promise(const master::Run& run, const master::Promise& promise);
  void Settle(const master::MasterState& state, const master::SettlePromise& settled);
  // Of a waiting claim: whether no state stands on its lineage from `point` on.
  bool Needs(const SearchPlan& plan, const Claim& claim, Point point) const;
  std::string FindNeeded(const master::MasterState& state) const;
  std::string FindNeededFile(const master::MasterState& state, const std::set<Point>& said_lost) const;
  std::string Enter(const master::MasterState& state, const master::StateChange& change);
  void EnterCheckpoint(const PlanChange& change, PlanId plan);
  std::string WasteOf(const master::Run& run) const;
  std::string FindAwaited(const master::MasterState& state, StudyId study) const;

  struct NodeStates {
    std::map<Step, std::string> checkpoints;  // their files
    std::map<Step, std::set<PromiseId>> promises;
  };
  std::map<PlanNodeId, NodeStates> nodes_;
  std::map<PromiseId, Point> promised_;
  // By the event that is being entered: of checkpoints, and of promises of states.
  std::vector<std::pair<PlanId, Point>> dropped_;
  std::vector<std::pair<PlanId, Point>> withdrawn_;
};

}  // namespace espalier::sim
