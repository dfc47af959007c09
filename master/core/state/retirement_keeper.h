// Keeps what is known of studies that are finished, on their way out of memory. Called by Apply alone.
#pragma once

#include "master/core/state/master_state.h"

namespace espalier::master {

class RetirementKeeper {
 public:
  explicit RetirementKeeper(MasterState& state) : state_(state) {}

  // Its turn to be retired will come. O(log studies).
  void Finished(const Study& study);
  void PutOff(const Study& study, Time until);
  // What has been listed is listed again from the beginning: the study keeps other states. O(what was listed).
  void ListAnew(StudyId study);
  void ListKept(const Study& study, std::size_t count);
  // It is among the retired. Where memory has nothing of it, what it has come to is as it was when it was retired.
  // O(states that it keeps x log) then, else O(log studies).
  void Retired(StudyId study);
  // O(count x depth log).
  void Forget(StudyId study, std::size_t count);
  // O(count x log requests).
  void ForgetRequests(Time before, std::size_t count);
  // O(log runs). REQUIRES: it served retired studies alone.
  void LeavesFrom(RunId run, Time from);
  // O(path x promises on it).
  void Leave(const Run& run);

 private:
  bool HasSome(StudyId study) const;
  void ForgetTrial(TrialId trial);
  void ForgetClaim(SearchPlan& plan, ClaimId claim);
  void ForgetRun(StudyId study);
  void NoLongerLeaves(RunId run);

  MasterState& state_;
};

}  // namespace espalier::master
