// Every change of the master's state, as data: the same value changes memory and is what the database stores.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "master/core/state/master_state.h"
#include "searchplan/plan/plan_edit.h"

namespace espalier::master {

// Adds, or replaces the registration of the same name and data.
struct SetTrainer {
  TrainerRecord trainer;
};
struct AddStudy {
  Study study;
};
struct CloseStudy {
  StudyId study;
};
struct FinishStudy {
  StudyId study;
  Time at{};
};
struct AddPlan {
  PlanId plan;
  PlanIdentity identity;
};
struct ChangePlan {
  PlanId plan;
  PlanChange change;
};
// Without claims; those come as AddClaim, which enters them into the trial too.
struct AddTrial {
  Trial trial;
};
struct CloseTrial {
  TrialId trial;
  bool cancelled = false;
};
struct AddStudyEvent {
  StudyId study;
  std::int64_t number = 0;
  StudyEvent event;
};
struct AddRun {
  Run run;
};
// Withdraws the open promises that `targets` no longer holds, makes those that are new, at `at`.
struct SetTargets {
  RunId run;
  std::int64_t generation = 0;
  std::vector<Target> targets;
  Time at{};
};
struct SetPreempt {
  RunId run;
  std::int64_t generation = 0;
};
// Of the open promise at `step`.
struct SettlePromise {
  RunId run;
  Step step;
  PromiseState state = PromiseState::kStored;
  Time at{};
};
struct SetRunState {
  RunId run;
  RunState state = RunState::kEnded;
  Seconds slot_seconds{0};
};
struct AddRequest {
  RequestKey key;
  AnsweredRequest answer;
};
// Adds, or replaces the user of the same name. REQUIRES: no other user has the token.
struct SetUser {
  User user;
};
// Not stored.
struct SetServer {
  Server server;
};
struct RemoveServer {
  std::string name;
};
struct SetPosition {
  RunId run;
  Step at;
};
struct RestartLeases {
  Moment from{};
};

using StateChange = std::variant<SetTrainer, AddStudy, CloseStudy, FinishStudy, AddPlan, ChangePlan, AddTrial,
                                 CloseTrial, AddStudyEvent, AddRun, SetTargets, SetPreempt, SettlePromise, SetRunState,
                                 AddRequest, SetUser, SetServer, RemoveServer, SetPosition, RestartLeases>;
using StateEdit = std::vector<StateChange>;

// False for changes that live in memory only.
bool IsStored(const StateChange& change);

// REQUIRES: the change fits the state.
void Apply(MasterState& state, const StateChange& change);

// One line.
std::string Print(const StateChange& change);

}  // namespace espalier::master
