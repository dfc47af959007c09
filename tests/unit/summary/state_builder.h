// Makes master states in few lines, by the same changes that the master applies. One trainer ("mlp" with "digits",
// hyper-parameters bs and lr), one server. Times are whole seconds from 0.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "master/core/state/state_edit.h"

namespace espalier::master {

inline Time At(std::int64_t seconds) { return Time{} + std::chrono::seconds(seconds); }

class StateBuilder {
 public:
  explicit StateBuilder(int slot_count = 2);

  // The server offers `offer` as it is now, which is newer than any before.
  void Offers();

  StudyId AddStudy(Scope scope = Scope::kStudy, std::int64_t created_at = 0, Goal goal = Goal::kMaximize);
  // `lr` and `bs` in the notation; an empty one is left out.
  TrialId AddTrial(StudyId study, const std::string& lr, std::int64_t horizon, const std::string& bs = "");
  ClaimId AddClaim(TrialId trial, std::int64_t step);
  void Settle(ClaimId claim, ClaimState state);
  void Close(TrialId trial, bool cancelled = false);
  // Stores the metric and settles the claim.
  void Finish(ClaimId claim, double accuracy);
  // AddClaim and Finish.
  void Claimed(TrialId trial, std::int64_t step, double accuracy = 0.5);

  // All are made before the first is finished.
  void ClaimedTogether(const std::vector<std::pair<TrialId, std::int64_t>>& claims);

  // Along the trial's lineage from step `from` to `to`, ordered for `studies`; training, without promises.
  RunId AddRun(std::vector<StudyId> studies, TrialId trial, std::int64_t from, std::int64_t to,
               std::int64_t ordered_at = 0);
  void Promise(RunId run, std::int64_t step, Owed owed = Owed::kState, std::int64_t at = 0);
  // Of the state.
  void SettlePromise(RunId run, std::int64_t step, PromiseState state, std::int64_t at);
  void EndRun(RunId run, double slot_seconds);
  // Steps (from, to] of its path, each taking so many seconds.
  void Train(RunId run, std::int64_t from, std::int64_t to, double step_seconds = 1);
  // AddRun of the whole stretch, and Train of it.
  RunId Trained(std::vector<StudyId> studies, TrialId trial, std::int64_t from, std::int64_t to,
                std::int64_t ordered_at = 0, double step_seconds = 1);
  void StoreCheckpoint(TrialId trial, std::int64_t step, std::int64_t stored_at = 0, std::int64_t bytes = 100);
  void Change(TrialId trial, PlanChange change);
  Point On(TrialId trial, std::int64_t step) const;

  MasterState state;
  Offer offer;
  std::string team = "team";  // of the studies that are added

 private:
  void AddEvent(StudyId study, StudyEvent event);
};

}  // namespace espalier::master
