// What the master does to the outside. An effect is carried out only once every edit that came before it is durable.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/log_line.h"
#include "base/result.h"
#include "master/core/event.h"
#include "protocol/order.h"
#include "scheduler/action.h"

namespace espalier::master {

struct StudyCreated {
  StudyId study;
  bool attached = false;
};
struct Submitted {
  std::vector<TrialId> trials;
  std::vector<ClaimId> claims;
};
struct StudyCancelled {};
struct StudyPinned {};
struct TrialContinued {
  StudyId study;
  std::vector<TrialId> trials;
  std::vector<ClaimId> claims;  // of each trial
};

struct StageRetried {
  std::vector<TrialId> trials;   // of the caller's team: that it failed, and that have new claims
  std::int64_t other_count = 0;  // the same of other teams
};

struct UserChanged {};

struct ServerDrained {
  std::int64_t run_count = 0;  // that have not ended there
};

struct PolicyChosen {};
struct WeightSet {};
struct QuotaSet {};

// The call is to be posted again, with what the database knows of it. Nobody but the front door hears this.
struct HistoryNeeded {};

struct ArchivePut {};

struct TrainerAsked {
  Digest128 reference;
};

using Answer =
    std::variant<Error, StudyCreated, Submitted, StudyCancelled, StudyPinned, TrialContinued, StageRetried, UserChanged,
                 ServerDrained, PolicyChosen, WeightSet, QuotaSet, HistoryNeeded, ArchivePut, TrainerAsked>;

struct Reply {
  CallId call;
  Answer answer;
};

// The newest of a batch replaces the others.
struct SendOrders {
  SessionId session;
  ServerOrders orders;
};

// The node manager on this stream must register again, or has been replaced.
struct EndSession {
  SessionId session;
  std::string why;
};

// The node manager on this stream is not taken. It is told why, and ends the stream.
struct RefuseServer {
  SessionId session;
  std::string why;
};

// Events of a study, in order, for whoever watches it.
struct EventsAdded {
  StudyId study;
  std::int64_t first = 0;  // number of the first
  std::vector<StudyEvent> events;
  std::vector<Time> times;  // when they happened, likewise
};

// From now on these may call, and nobody else.
struct AdmitUsers {
  std::map<std::string, User> users;  // by name
};

// AnalyseCurve: worked beside the loop; CurveAnalysed is posted.
using Effect =
    std::variant<Reply, SendOrders, EndSession, RefuseServer, EventsAdded, AdmitUsers, LogLine, AnalyseCurve>;

}  // namespace espalier::master
