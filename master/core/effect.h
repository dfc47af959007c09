// What the master does to the outside. An effect is carried out only once every edit that came before it is durable.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/log_line.h"
#include "base/result.h"
#include "master/core/event.h"

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
struct TrialContinued {
  StudyId study;
  TrialId trial;
  ClaimId claim;
};

struct UserChanged {};

using Answer = std::variant<Error, StudyCreated, Submitted, StudyCancelled, TrialContinued, UserChanged>;

struct Reply {
  CallId call;
  Answer answer;
};

// A stage of a run's path with all that the node manager needs.
struct DesiredStage {
  PathStage stage;
  PackedConfiguration configuration;
  Digest128 lineage;
};

struct DesiredStart {
  Point point;
  std::string file;
  std::string state_sha256;
  PackedConfiguration configuration;  // in force at point.step - 1
};

struct DesiredRun {
  RunId run;
  std::int64_t generation = 0;
  int slot = 0;
  PlanId plan;
  TrainingIdentity training;
  std::optional<DesiredStart> start;
  std::vector<DesiredStage> path;
  std::vector<Target> targets;
  bool preempt = false;
  std::vector<std::int64_t> evaluate_every;
  Seconds save_every{0};
  Seconds hang_after{0};
  std::string evaluation;
};

// All that a server should be doing. The newest of a batch replaces the others.
struct SendDesired {
  SessionId session;
  std::vector<DesiredRun> runs;
  std::int64_t acknowledged_report = 0;
  std::vector<std::string> superseded_files;
};

// The node manager on this stream must register again, or has been replaced.
struct EndSession {
  SessionId session;
  std::string why;
};

// Events of a study, in order, for whoever watches it.
struct EventsAdded {
  StudyId study;
  std::int64_t first = 0;  // number of the first
  std::vector<StudyEvent> events;
};

// From now on these may call, and nobody else.
struct AdmitUsers {
  std::map<std::string, User> users;  // by name
};

using Effect = std::variant<Reply, SendDesired, EndSession, EventsAdded, AdmitUsers, LogLine>;

}  // namespace espalier::master
