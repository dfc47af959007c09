// Keeps count of what teams and users use. Called where that changes; what it counts is derived from the rest.
#pragma once

#include <functional>

#include "master/core/state/master_state.h"

namespace espalier::master {

// For whom what the study causes counts.
std::array<Party, 2> PartiesOf(const Study& study);
bool CountsFor(const Study& study, const Party& party);

class UsageKeeper {
 public:
  explicit UsageKeeper(MasterState& state) : state_(state) {}

  // So many more; negative: fewer. Nothing for a study that is not known. O(log).
  void Count(StudyId study, std::int64_t Usage::*what, std::int64_t more);
  // `charge` changes what the run was charged, or until when. O(studies that it has served x log).
  void Around(const Run& run, const std::function<void()>& charge);

 private:
  void CountCharges(const Run& run, std::int64_t sign);

  MasterState& state_;
};

// All of it, and none where it has used nothing. O(log).
Usage UsageOf(const MasterState& state, const Party& party);

// Its trials that wait for something, or may be asked for more. O(running studies).
std::int64_t OpenTrialsOf(const MasterState& state, const Party& party);

// Of the day that it is, what was charged to each team and user, and their parts of what runs have held since they were
// charged. O(parties + runs under way x studies that they serve).
std::map<Party, Seconds> DeviceTimeToday(const MasterState& state, Time now);

// Of its checkpoints that have a limit, how many bytes are needed. REQUIRES: it has a limit of stored bytes. O(1).
std::int64_t NeededBytes(const MasterState& state, const Party& party);

// Whether no run may be begun for the study alone. O(log); O(1) while nobody is stopped.
bool IsStopped(const MasterState& state, StudyId study);
bool IsStopped(const MasterState& state, const Study& study);

// The stage, or the evaluation, is for studies that are stopped, all of them. O(studies, or claims, there); O(1) while
// nobody is stopped. REQUIRES: it can be ordered now.
bool IsHeldBack(const MasterState& state, const NeedIndex& needs, const StageAt& stage);
bool IsHeldBack(const MasterState& state, const SearchPlan& plan, const ReadyEvaluation& evaluation);

}  // namespace espalier::master
