// The trainer protocol in the node manager's own words: what workers are asked, and what they answer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/metrics.h"
#include "base/point.h"
#include "base/units.h"
#include "protocol/offer.h"

namespace espalier::node {

// Of hyper-parameters, by name.
using Values = std::map<std::string, Value>;

// Lists what the worker can train.
struct Describe {};

// Begins a training from scratch.
struct Init {
  RunKey run;
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

// Which point a checkpoint holds, and who trained it.
struct CheckpointIdentity {
  RunKey run;
  PlanId plan;
  Point point;
  Digest128 lineage;
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

struct Description {
  int protocol_version = 0;
  std::string device_kind;
  std::vector<Offer> offers;
};

struct Done {};

struct Trained {
  Metrics metrics;
  Seconds time{0};
};

struct Evaluated {
  Metrics metrics;
  Seconds time{0};
};

struct Saved {
  std::string state_sha256;
  std::int64_t bytes = 0;
};

enum class FailureKind { kTrainer, kOutOfMemory, kCheckpoint, kRequest };

struct Failure {
  FailureKind kind = FailureKind::kTrainer;
  std::string message;
  bool state_intact = false;  // the training is as if the request had never been made
};

using ReplyKind = std::variant<Description, Done, Trained, Evaluated, Saved, Failure>;

struct WorkerReply {
  std::int64_t id = 0;
  ReplyKind kind;
};

// How a worker ended.
struct WorkerDeath {
  bool killed_by_others = false;  // by a SIGKILL that the node manager did not send
  std::string last_words;         // how it ended and the end of what it printed, or why it could not be started
};

}  // namespace espalier::node
