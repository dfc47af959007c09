// Every change of the master's state, as data: the same value changes memory and is what the database stores.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "master/core/state/master_state.h"
#include "searchplan/plan/plan_edit.h"

namespace espalier::master {

// REQUIRES: it is not known.
struct AddOffer {
  KnownOffer offer;
};
// REQUIRES: it is known, and not listed.
struct ListOffer {
  Digest128 offer;
};
struct AddStudy {
  Study study;
};
struct CloseStudy {
  StudyId study;
  bool cancelled = false;
  std::string stopped = {};  // why its stop rule ends it; empty: that does not
};
// Which of the study's states are never evicted from now on.
struct SetKeep {
  StudyId study;
  Keep keep = Keep::kBest;
  std::optional<std::vector<KeptState>> kept = {};  // given for a retired study
};
struct FinishStudy {
  StudyId study;
  Time at{};
};
// From now on memory may lack what leaves it of the study (retired_study.h). REQUIRES: it is finished, and every run
// that has served it has ended.
struct RetireStudy {
  StudyId study;
  RetiredStudy as;
};
// They leave memory. REQUIRES: they have ended, and all studies that they have served are retired.
struct RetireRuns {
  std::vector<RunId> runs;
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
// Replaces the label that it had.
struct SetLabel {
  TrialId trial;
  TrialLabel label;
};
struct AddStudyEvent {
  StudyId study;
  std::int64_t number = 0;
  StudyEvent event;
  Time at{};  // when it happened
  // The claim that was settled was answered with what the plan has at its point: the database finds it there.
  bool answered_at_claim = false;
};
// Kept by the database alone; policies hear of it. REQUIRES: the node is known.
struct AddTrainingMetrics {
  RunId run;  // that reports them
  PlanId plan;
  PlanNodeId node;
  MetricSeries series;
};
// With the promises that it begins with.
struct AddRun {
  Run run;
};
// REQUIRES: it is open, its id is new, and nothing open is owed there in the same kind.
struct MakePromise {
  RunId run;
  Promise promise;
};
// Kept, lost or withdrawn. REQUIRES: it is open.
struct SettlePromise {
  RunId run;
  PromiseId promise;
  PromiseState state = PromiseState::kKept;
  Time at{};
};
// What the node manager is told of the run has changed.
struct SetTerms {
  RunId run;
  std::int64_t generation = 0;
  bool preempt = false;
};
// A failure of the run was counted; another report of it counts nothing.
struct SetRunFailed {
  RunId run;
};
// Charges the run's device time from where it was charged to; from then on it serves these studies.
struct ChargeRun {
  RunId run;
  Time to{};
  std::map<StudyId, std::int64_t> microseconds;
  std::vector<StudyId> serves;
};
// Saving or Ended.
struct SetRunState {
  RunId run;
  RunState state = Ended{};
};
struct AddRequest {
  RequestKey key;
  AnsweredRequest answer;
};
// Adds, or replaces the user of the same name. REQUIRES: no other user has the token.
struct SetUser {
  User user;
};
// REQUIRES: it is not known.
struct AddArchive {
  std::string sha256;
  Archive archive;
};
// References of it stay: who sends it again finds them. REQUIRES: it is known.
struct DropArchive {
  std::string sha256;
};
// REQUIRES: it is not known.
struct AddReference {
  TrainerReference reference;
};
// Of a team; where that is empty, of a study. REQUIRES: weight > 0; there is such a study.
struct SetWeight {
  std::string team;
  StudyId study;
  double weight = 1;
};
// Empty: no limits any more.
struct SetQuota {
  Party party;
  Quota quota;
};
// None: it may take runs again.
struct SetDrain {
  std::string server;
  std::optional<Drain> drain;
};
// REQUIRES: there is a policy of that name.
struct SetPolicy {
  PolicyChoice choice;
};
// Not stored, as what follows.
struct SetServer {
  Server server;
};
struct RemoveServer {
  std::string name;
};
struct SetPosition {
  RunId run;
  Step at;
  Time since{};
};
// The store has no room for a state of the run. REQUIRES: 0 <= bytes <= 2^62.
struct WantRoom {
  RunId run;
  std::int64_t bytes = 0;
};
struct RestartLeases {
  Moment from{};
};
// None: runs may be begun for the party's studies again.
struct SetStopped {
  Party party;
  std::optional<StoppedBy> by;
};
// The study's turn to be retired comes later.
struct PutOffRetirement {
  StudyId study;
  Time until{};
};
// The run leaves memory later. REQUIRES: it served retired studies alone.
struct PutOffLeaving {
  RunId run;
  Time until{};
};
// Lists what the study keeps, for so many more of its trials or events. REQUIRES: it is finished.
struct ListKept {
  StudyId study;
  std::size_t count = 0;
};
// What was answered before, so many of the requests to no study, may be forgotten: the oldest.
struct ForgetRequests {
  Time before{};
  std::size_t count = 0;
};
// So many of each kind of what memory still has of the study leave it. REQUIRES: it is retired.
struct ForgetSome {
  StudyId study;
  std::size_t count = 0;
};
// The server's node manager did not take an order for the stage.
struct SetRefusal {
  StageBeginning stage;
  std::string server;
  Refusal refusal;
};
// The stage was begun, or is to be tried everywhere.
struct ForgetRefusals {
  StageBeginning stage;
};

// Somebody asks for a reference, anew.
struct AskReference {
  Digest128 reference;
  Time at{};
};
struct ForgetAsk {
  Digest128 reference;
};

// Something is known of a trainer. REQUIRES: nothing was.
struct AddCheckFinding {
  CheckKey key;
  CheckFinding finding;
  Time at{};
};
// A slot is given to a check. REQUIRES: it is idle, and the check is under way nowhere.
struct PlaceCheck {
  CheckKey key;
  CheckPlace place;
};
// REQUIRES: it is under way.
struct EndCheck {
  CheckKey key;
};

// A question about the trial's curve up to the point is asked. REQUIRES: none is.
struct BeginAnalysis {
  TrialId trial;
  Point at;
};
// REQUIRES: it is asked.
struct EndAnalysis {
  TrialId trial;
  Point at;
};

using StateChange =
    std::variant<AddOffer, AddStudy, CloseStudy, SetKeep, FinishStudy, AddPlan, ChangePlan, AddTrial, CloseTrial,
                 AddStudyEvent, AddTrainingMetrics, AddRun, MakePromise, SettlePromise, SetTerms, SetRunFailed,
                 ChargeRun, SetRunState, AddRequest, SetUser, ListOffer, AddArchive, DropArchive, AddReference,
                 SetWeight, SetQuota, RetireStudy, RetireRuns, SetDrain, SetPolicy, SetLabel, SetServer, RemoveServer,
                 SetPosition, SetStopped, PutOffRetirement, PutOffLeaving, ListKept, ForgetRequests, ForgetSome,
                 RestartLeases, WantRoom, AskReference, ForgetAsk, AddCheckFinding, PlaceCheck, EndCheck, SetRefusal,
                 ForgetRefusals, BeginAnalysis, EndAnalysis>;
using StateEdit = std::vector<StateChange>;

// False for changes that live in memory only.
bool IsStored(const StateChange& change);

// REQUIRES: the change fits the state.
void Apply(MasterState& state, const StateChange& change);

// One line.
std::string Print(const StateChange& change);

}  // namespace espalier::master
