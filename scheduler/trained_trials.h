// Which runs train for which trials: for those whose ways they are on, up to where these part. A value.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/view.h"

namespace espalier {

class TrainedTrials {
 public:
  // The run trains, along its path. O(stages).
  void Begin(const RunView& run);
  // A run trains on the trial's way, if it does. O(depth). REQUIRES: it has begun.
  void Join(RunId run, const PolicyTrial& trial, const View& view);
  // Every run of its plan that is under way. O(runs of the plan x depth).
  void JoinAll(const PolicyTrial& trial, const View& view);
  // It trains no more. O(its trials).
  void Stop(RunId run);
  // O(its runs).
  void Forget(TrialId trial);

  const std::set<RunId>& runs() const { return runs_; }
  // Runs of whose paths the point is one. O(runs of the plan x stages).
  std::vector<RunId> RunsThrough(PlanId plan, Point point) const;
  // Those of its trials that wait for what it trains from here on, by id. O(its trials).
  std::vector<TrialId> TrialsOf(RunId run, const View& view) const;
  // Whether a run is under way that trains on its way from here on. O(its runs).
  bool IsTrained(TrialId trial, const View& view) const;

 private:
  struct Running {
    PlanId plan;
    std::vector<PathStage> path;
    std::map<TrialId, Step> until;  // by trial the last step on its way
  };

  std::set<RunId> runs_;
  std::unordered_map<RunId, Running> running_;
  std::map<PlanId, std::set<RunId>> runs_of_plan_;
  std::unordered_map<TrialId, std::set<RunId>> runs_of_trial_;
};

// Which trials' ways points are on. A value.
class TrialWays {
 public:
  // Its way to its furthest point; what was there before of it stays. O(depth log).
  void Add(const PolicyTrial& trial, const View& view);
  // O(nodes of its plan on which trials are).
  void Forget(const PolicyTrial& trial);
  // Whether any is of the plan. O(log).
  bool AnyIn(PlanId plan) const;
  // By id. O(those on the node).
  std::vector<TrialId> Through(PlanId plan, Point point) const;

 private:
  std::map<std::pair<PlanId, PlanNodeId>, std::map<TrialId, Step>> last_;  // steps
};

// Who waits for what the run trains from here on, of whatever study. O(plan nodes below + claims that wait there).
std::vector<PolicyTrial> WaitingFor(const RunView& run, const View& view);

}  // namespace espalier
