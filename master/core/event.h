// What happens to the master: calls of clients, messages of node managers, time.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "master/core/state/master_state.h"
#include "protocol/report.h"

namespace espalier::master {

// A waiting call; its answer carries the same id.
using CallId = Id<struct CallTag>;

struct CreateStudyCall {
  CallId call;
  std::string user;
  std::string team;
  std::string request_id;
  StudySpecification specification;
};

struct NewTrial {
  std::map<std::string, std::string> sequences;  // in the notation
  Step steps;
  Step horizon;  // Step{0}: steps
  friend bool operator==(const NewTrial&, const NewTrial&) = default;
};

struct FurtherClaim {
  TrialId trial;
  Step steps;
  friend bool operator==(const FurtherClaim&, const FurtherClaim&) = default;
};

struct SubmitCall {
  CallId call;
  std::string user;
  std::string team;
  std::string request_id;
  StudyId study;
  std::vector<NewTrial> new_trials;
  std::vector<FurtherClaim> claims;
  std::vector<TrialId> close;
  std::vector<TrialId> cancel;
  bool finish = false;
};

struct CancelStudyCall {
  CallId call;
  std::string user;
  std::string team;
  std::string request_id;
  StudyId study;
};

struct ContinueTrialCall {
  CallId call;
  std::string user;
  std::string team;
  std::string request_id;
  TrialId trial;
  std::string name;                              // of the new study
  std::string definition;                        // the same
  Step steps;                                    // Step{0}: the trial's horizon
  Step from_step;                                // where `sequences` take over
  std::map<std::string, std::string> sequences;  // that change there, in the notation
};

// REQUIRES of this and the next: `user` is an administrator.
struct AddUserCall {
  CallId call;
  std::string user;
  std::string request_id;
  User added;
};

struct RemoveUserCall {
  CallId call;
  std::string user;
  std::string request_id;
  std::string name;
};

// Here and below, `arrived`: when the event was posted, not when it is handled. Leases count from there, so that a
// master that is slow loses nobody whose message waits.
struct NodeMessage {
  SessionId session;
  Moment arrived{};
  std::optional<Registration> registration;
  std::vector<RunStatus> runs;
  std::vector<Report> reports;
  // Numbers of reports that the database refuses: they are acknowledged, and not applied.
  std::set<std::int64_t> refused_reports;
};

struct NodeGone {
  SessionId session;
  Moment arrived{};
};

// Time passes: leases end. Comes after all that was posted before `arrived`.
struct Tick {
  Moment arrived{};
  bool paused = false;  // much later than it should have: nobody was listened to for a while, and leases start afresh
};

// The state has been loaded; the first event after that.
struct Recovered {
  Moment arrived{};
};

using Event = std::variant<CreateStudyCall, SubmitCall, CancelStudyCall, ContinueTrialCall, AddUserCall, RemoveUserCall,
                           NodeMessage, NodeGone, Tick, Recovered>;

}  // namespace espalier::master
