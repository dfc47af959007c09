// Keeps the cache of checkpoints as the rest of the state has it: which stand, and why each is kept. Called where that
// may change; looks at nothing else.
#pragma once

#include <functional>

#include "master/core/state/master_state.h"

namespace espalier::master {

// Whether somebody wants the state there now: waits for it, or goes on from it. O(1).
bool IsStateWanted(const MasterState& state, PlanId plan, Point point);

// What a checkpoint is kept for. Needed: a waiting claim's training starts from it, or the claim is there; a run that
// has not ended started from it; it is the furthest state that such a run has stored, from which its work would go
// on if it failed; or a study keeps it. Else an open trial's last claim is there, or it is idle. O(log). REQUIRES: a
// checkpoint stands there.
Standing StandingNow(const MasterState& state, PlanId plan, Point point);

// What its ratio is made of now. O(plan nodes to the nearest state before it).
CacheValue ValueNow(const MasterState& state, PlanId plan, Point point);

// What the study keeps for its trials, or for events, number `first` to first + count - 1: a state as often as there
// are reasons. O(count x depth). REQUIRES: memory has them.
std::vector<KeptState> KeptBy(const MasterState& state, const Study& study, std::size_t first, std::size_t count);

class CacheKeeper {
 public:
  explicit CacheKeeper(MasterState& state) : state_(state) {}

  // Each O(log), and O(ValueNow) where a checkpoint is not needed any more, or by others than before.
  void Stored(const SearchPlan& plan, Point point);
  void Dropped(const SearchPlan& plan, Point point);
  void RunAdded(const Run& run);
  void RunEnded(const Run& run);
  // So many runs that are in memory no more have started from there, the last of them at that time.
  void UsedBefore(PlanId plan, Point point, std::int64_t runs, Time last);
  // `take` takes what has come of a claim: another state may be kept.
  void Around(const Study& study, const ClaimSettled& settled, const std::function<void()>& take);
  // What counts for the party is kept in a cache of its own from now on, or no more. O(checkpoints) where it was not.
  void Limit(const Party& party, bool has_limit);
  // What states are kept for, whoever asks: so many more, or fewer, reasons to keep this one.
  void CountKept(PlanId plan, Point point, std::int64_t sign);
  // The study keeps others from now on. O(its events log).
  void KeepOf(Study& study, Keep keep);
  // A retired one keeps these. O(states x log).
  void KeepOf(RetiredStudy& retired, std::vector<KeptState> kept);
  // What is asked for, or kept open, there may have changed.
  void LookAgain(PlanId plan, Point point);
  // Its value may have changed. REQUIRES: a checkpoint stands there.
  void Value(PlanId plan, Point point);

 private:
  void SetFurthest(PlanId plan, RunId run, Point point);
  // Calls `change` with each cache that the state at the point is in.
  template <class Change>
  void InEachCache(PlanId plan, Point point, const Change& change);
  void CountAllKept(const Study& study, std::int64_t sign);
  void CountKept(TrialId trial, Step step, std::int64_t sign);

  MasterState& state_;
};

}  // namespace espalier::master
