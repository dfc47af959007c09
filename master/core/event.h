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
#include "master/core/state/visibility.h"
#include "protocol/report.h"
#include "scheduler/curve_forecast.h"

namespace espalier::master {

// A waiting call; its answer carries the same id.
using CallId = Id<struct CallTag>;

struct CreateStudy {
  StudySpecification specification;
};

struct NewTrial {
  std::map<std::string, std::string> sequences;  // in the notation
  Step steps;
  Step horizon;              // Step{0}: steps
  std::vector<Step> more{};  // claimed at once, too: each later than the one before
  friend bool operator==(const NewTrial&, const NewTrial&) = default;
};

struct FurtherClaim {
  TrialId trial;
  Step steps;
  friend bool operator==(const FurtherClaim&, const FurtherClaim&) = default;
};

struct SubmitBatch {
  StudyId study;
  std::vector<NewTrial> new_trials;
  std::vector<FurtherClaim> claims;
  std::vector<TrialId> close;
  std::vector<TrialId> cancel;
  bool finish = false;
  std::optional<std::int64_t> tuner_batch = {};  // which batch of the study's tuner is complete with this
};

struct CancelStudy {
  StudyId study;
};

struct PinStudy {
  StudyId study;
  Keep keep = Keep::kBest;
  std::optional<std::vector<KeptState>> recalled = {};  // what a retired study would keep then
};

// A hyper-parameter falls from the value that it has to another, to the end of the branch.
struct Decay {
  std::string parameter;
  double share = 0;   // of the branch's whole length: round(from_step * share / (1 - share)) steps
  std::string shape;  // of a Cooldown
  double end = 0;
};

struct Continuation {
  Step steps;                                    // Step{0}: the trial's horizon, or what the decay says
  Step from_step;                                // where `sequences` and the decay take over
  std::map<std::string, std::string> sequences;  // that change there, in the notation
  std::optional<Decay> decay = {};
};

struct ContinueTrial {
  TrialId trial;
  std::string name;                         // of the new study
  std::string definition;                   // the same
  std::vector<Continuation> continuations;  // a trial each
  bool state_wanted = false;                // at their ends: trained once more, if not stored (any more)
  std::optional<Trial> recalled = {};       // the trial, of a retired study; without claims
};

// Names the stage by a point that it reaches or passes.
struct RetryStage {
  Point point;
};

// REQUIRES of this and the three that follow: the caller is an administrator.
struct AddUser {
  User added;
};

struct RemoveUser {
  std::string name;
};

struct DrainServer {
  std::string server;
  bool off = false;  // it may take runs again
  std::string why;   // for people; may be empty
};

struct ChoosePolicy {
  std::string name;
};

// How large a part of the slots is a team's due, or of its team's a study's: kWeightMin to kWeightMax.
struct WeighTeam {
  std::string team;
  double weight = 1;
};
struct WeighStudy {
  StudyId study;
  double weight = 1;
};

// What of a team's or a user's limits is to be otherwise; what is not named stays as it is.
struct QuotaChange {
  template <class Limit>
  using ChangeTo = std::optional<std::optional<Limit>>;  // to none: no limit any more
  ChangeTo<std::int64_t> open_trials = {};
  ChangeTo<std::int64_t> plan_nodes = {};
  ChangeTo<std::int64_t> stored_bytes = {};
  ChangeTo<Seconds> device_time = {};  // in a day (UTC)
};
struct LimitParty {
  Party party;
  QuotaChange change;
};

struct PutArchive {
  std::string bytes;
};

struct DescribeTrainer {
  TrainerReference reference;
};

// What the database says of a request to a study that is retired.
struct Recalled {
  std::optional<AnsweredRequest> answer;  // none: it was not answered before
};

// What a client asks for. It comes again with the same request id until the client has heard the answer. Where it needs
// what has left memory with a retired study it is answered with HistoryNeeded, and posted again with that.
struct ClientCall {
  CallId call;
  Caller caller;
  std::string request_id;
  std::variant<CreateStudy, SubmitBatch, CancelStudy, PinStudy, ContinueTrial, RetryStage, AddUser, RemoveUser,
               DrainServer, ChoosePolicy, WeighTeam, WeighStudy, LimitParty, PutArchive, DescribeTrainer>
      what;
  std::optional<Recalled> recalled = {};  // what was looked up for it, in `what`, too
};

// Here and below, `arrived`: when the event was posted, not when it is handled. Leases count from there, so that a
// master that is slow loses nobody whose message waits.
struct NodeMessage {
  SessionId session;
  Moment arrived{};
  std::optional<Registration> registration;
  std::optional<Time> sent_at = {};  // by the server's clock
  std::vector<RunStatus> runs;
  std::vector<Report> reports;
  // Reports up to this number are durable, as the node manager was told.
  std::int64_t acknowledged_report = 0;
  // Numbers of reports that the database refuses: they are acknowledged, and not applied.
  std::set<std::int64_t> refused_reports;
};

struct NodeGone {
  SessionId session;
  Moment arrived{};
};

// Time passes: leases end, as of `heard_until`, when the Tick before it was posted: all that had reached the master by
// then has been handled since, also what had to wait for a process that stood still.
struct Tick {
  Moment arrived{};
  Moment heard_until{};
  bool paused = false;  // much later than it should have: nobody was listened to for a while, and leases start afresh
};

// The state has been loaded; the first event after that.
struct Recovered {
  Moment arrived{};
};

// CurveAnalysed: answers a question that was asked, or had been before the state was loaded anew: then it is passed
// over.
using Event = std::variant<ClientCall, NodeMessage, NodeGone, Tick, Recovered, CurveAnalysed>;

}  // namespace espalier::master
