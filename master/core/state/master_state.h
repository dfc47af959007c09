// All that the master knows. Owned by the event loop; changes only by Apply (master/core/state/state_edit.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "master/core/state/run.h"
#include "master/core/state/study.h"
#include "master/core/state/trial_index.h"
#include "master/core/state/user.h"
#include "searchplan/plan/search_plan.h"

namespace espalier::master {

// What a node manager registered of one trainer with one data set. The newest registration of (name, data) counts.
struct TrainerRecord {
  std::string name;
  std::string code_digest;
  std::string data;
  std::string data_digest;
  std::string evaluation_digest;
  Schema schema;
  std::vector<std::string> metrics;
  friend bool operator==(const TrainerRecord&, const TrainerRecord&) = default;
};

using TrainerKey = std::pair<std::string, std::string>;  // name, data

// A stream to a node manager. Never used again.
using SessionId = Id<struct SessionTag>;

// A server whose node manager is connected, or was and whose lease has not ended. Not stored.
struct Server {
  std::string name;
  std::string incarnation;
  int slot_count = 0;
  std::string device_kind;
  std::set<TrainerKey> trainers;
  std::optional<SessionId> session;      // none: disconnected
  Moment last_seen{};                    // when its last message arrived
  std::int64_t acknowledged_report = 0;  // reports up to this number are applied
  friend bool operator==(const Server&, const Server&) = default;
};

// What a mutation was answered, so that it can be answered the same again.
struct AnsweredRequest {
  Digest128 content;
  std::vector<std::int64_t> ids;  // that it produced
  friend bool operator==(const AnsweredRequest&, const AnsweredRequest&) = default;
};

// (study, request id); StudyId{0} for requests that create studies.
using RequestKey = std::pair<StudyId, std::string>;

// The next id of each kind; the largest in use plus one.
struct IdCounters {
  StudyId study{1};
  TrialId trial{1};
  ClaimId claim{1};
  PlanId plan{1};
  PlanNodeId plan_node{1};
  RunId run{1};
  friend bool operator==(const IdCounters&, const IdCounters&) = default;
};

struct MasterState {
  // Stored.
  std::map<TrainerKey, TrainerRecord> trainers;
  std::map<StudyId, Study> studies;
  std::map<StudyId, std::vector<StudyEvent>> events;  // of number i + 1 at index i
  std::map<TrialId, Trial> trials;
  std::map<PlanId, SearchPlan> plans;
  std::map<RunId, Run> runs;
  std::map<RequestKey, AnsweredRequest> requests;
  std::map<std::string, User> users;  // by name; removed ones too
  // Derived from the above by Apply.
  IdCounters next;
  std::map<Digest128, PlanId> plan_by_identity;
  std::map<StudyId, std::vector<TrialId>> trials_by_study;
  std::map<StudyId, TrialIndex> trial_index;  // by what the study's events say
  std::map<ClaimId, PlanId> plan_by_claim;
  std::map<PlanId, std::set<TrialId>> open_trials;  // not closed, by plan
  std::set<RunId> active_runs;                      // not ended
  std::set<StudyId> running_studies;                // not finished
  // Not stored.
  std::map<std::string, Server> servers;
  Moment leases_from{};  // no lease has begun before: the state was loaded then, or the loop went on after a pause

  friend bool operator==(const MasterState&, const MasterState&) = default;
};

}  // namespace espalier::master
