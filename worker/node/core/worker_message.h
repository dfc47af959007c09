// The trainer protocol in the node manager's own words: what workers are asked, and what they answer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "worker/node/core/desired_run.h"

namespace espalier::node {

// Lists what the worker can train.
struct Describe {};

// Begins a training from scratch.
struct Init {
  RunId run;
  std::string trainer;
  std::string data;
  StepMeaning step;
  Values values;
  std::string step_log;
};

struct Setup {
  Values values;
};

// One step, to reach `step`.
struct Train {
  Step step;
};

struct Evaluate {};

// Which point a checkpoint holds, and what was evaluated there.
struct CheckpointIdentity {
  PlanId plan;
  PlanNodeId plan_node;
  Step step;
  RunId run;
  std::string lineage_digest;
  std::string evaluation_digest;
  std::map<std::string, double> metrics;
};

struct Save {
  std::string path;
  CheckpointIdentity identity;
};

struct Load {
  std::string path;
};

using RequestKind = std::variant<Describe, Init, Setup, Train, Evaluate, Save, Load>;

struct WorkerRequest {
  std::int64_t id = 0;  // counts up from 1 for each worker
  RequestKind kind;
};

// Trainers are passed on to the master as they are: each is the bytes of its description.
struct Description {
  int protocol_version = 0;
  std::string device_kind;
  std::vector<std::string> trainers;
  friend bool operator==(const Description&, const Description&) = default;
};

struct Done {};

struct Trained {
  std::map<std::string, double> metrics;
  Seconds time{0};
};

struct Evaluated {
  std::map<std::string, double> metrics;
  Seconds time{0};
};

struct Saved {
  std::string state_sha256;
  std::int64_t bytes = 0;
  Seconds blocking{0};
};

enum class FailureKind { kTrainer, kOutOfMemory, kCheckpoint, kRequest };

struct Failure {
  FailureKind kind = FailureKind::kTrainer;
  std::string message;
};

using ReplyKind = std::variant<Description, Done, Trained, Evaluated, Saved, Failure>;

struct WorkerReply {
  std::int64_t id = 0;
  ReplyKind kind;
};

}  // namespace espalier::node
