// The trainer protocol (docs/trainer_protocol.md): what workers are asked, and what they answer. Node manager,
// simulator and worker speak these words; worker/protocol/encoding.h puts them on the wire.
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

namespace espalier::worker {

// Of hyper-parameters, by name.
using Values = std::map<std::string, Value>;

// What one side can do beyond the protocol's first version, by name; what both sides name is used.
namespace capability {
inline constexpr char kProceed[] = "proceed";      // Proceed
inline constexpr char kReload[] = "reload";        // Load after steps, without Init: of all that the worker can train
inline constexpr char kHeartbeat[] = "heartbeat";  // Heartbeat, of a node manager
inline constexpr char kStretches[] = "stretches";  // Train says more, and Trained may say that the training goes on
}  // namespace capability
using Capabilities = std::vector<std::string>;
inline const Capabilities kCapabilities{capability::kProceed, capability::kReload, capability::kHeartbeat,
                                        capability::kStretches};  // of this version

// Lists what the worker can train.
struct Describe {
  Capabilities capabilities;  // of the node manager
  friend bool operator==(const Describe&, const Describe&) = default;
};

// Begins a training from scratch. On the wire it carries the run's id without its leadership: a step log is of one run.
struct Init {
  RunKey run;
  std::string trainer;
  std::string data;
  StepMeaning step;
  Values values;  // of every hyper-parameter at step 0, on resume as well
  std::string step_log;
  friend bool operator==(const Init&, const Init&) = default;
};

struct Setup {
  Values values;
  friend bool operator==(const Setup&, const Setup&) = default;
};

// The training that stands here goes on, or goes on from what Load follows, for this run.
struct Proceed {
  RunKey run;  // on the wire without its leadership
  std::string step_log;
  friend bool operator==(const Proceed&, const Proceed&) = default;
};

// Values that begin to hold at a step.
struct ValuesAtStep {
  Step step;
  Values values;
  friend bool operator==(const ValuesAtStep&, const ValuesAtStep&) = default;
};

// One step, to reach `step`. The rest is for workers that train stretches.
struct Train {
  Step step;
  // Where the training is wanted to stand next, to be saved or evaluated, or to end: `step` or later. Step 0: nothing
  // is said of it, as if it were `step`.
  Step until = {};
  // What changes at the steps from `step` to before `until`; where the training does not stand, it may be left out.
  std::vector<ValuesAtStep> ahead = {};
  friend bool operator==(const Train&, const Train&) = default;
};

struct Evaluate {
  friend bool operator==(const Evaluate&, const Evaluate&) = default;
};

// Which point a checkpoint holds, and who trained it.
struct CheckpointIdentity {
  RunKey run;
  PlanId plan;
  Point point;
  Digest128 lineage;
  friend bool operator==(const CheckpointIdentity&, const CheckpointIdentity&) = default;
};

struct Save {
  std::string path;
  CheckpointIdentity identity;
  friend bool operator==(const Save&, const Save&) = default;
};

struct Load {
  std::string path;
  bool of_other_code = false;  // which left it: not to be refused for that
  friend bool operator==(const Load&, const Load&) = default;
};

using RequestKind = std::variant<Describe, Init, Setup, Train, Evaluate, Save, Load, Proceed>;

struct WorkerRequest {
  std::int64_t id = 0;  // counts up from 1 for each worker
  RequestKind kind;
  friend bool operator==(const WorkerRequest&, const WorkerRequest&) = default;
};

struct Description {
  int protocol_version = 0;
  std::string device_kind;
  std::vector<Offer> offers;
  Capabilities capabilities = {};
  friend bool operator==(const Description&, const Description&) = default;
};

struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};

struct Trained {
  Metrics metrics;
  Seconds time{0};
  std::int64_t peak_bytes = 0;  // the most memory its process held since the run began in the worker; 0: not known
  // The training does not stand at this step: it can be neither saved nor evaluated here, only gone on with.
  bool goes_on = false;
  std::int64_t peak_device_bytes = 0;  // as `peak_bytes`, of the GPU; 0: not known, or none is used
  friend bool operator==(const Trained&, const Trained&) = default;
};

struct Evaluated {
  Metrics metrics;
  Seconds time{0};
  friend bool operator==(const Evaluated&, const Evaluated&) = default;
};

struct Saved {
  std::string state_sha256;
  std::int64_t bytes = 0;
  Seconds blocking_time{0};  // for which training stood still
  Seconds time{0};
  friend bool operator==(const Saved&, const Saved&) = default;
};

enum class FailureKind {
  kTrainer,      // the trainer's own error, or bad data: it would fail again
  kOutOfMemory,  // memory did not suffice: it may succeed with more
  kCheckpoint,   // the file cannot be written, or is missing, damaged or of another training
  kRequest,      // the request itself is wrong
  kFinished,     // of Train: the training is over, as the trainer says; the step will never be
};

struct Failure {
  FailureKind kind = FailureKind::kTrainer;
  std::string message;
  bool state_intact = false;     // the training is as if the request had never been made
  bool worker_unusable = false;  // nothing that this process is asked will succeed any more
  friend bool operator==(const Failure&, const Failure&) = default;
};

// The worker is still at the request, and gets on: no answer.
struct Heartbeat {
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

using ReplyKind = std::variant<Description, Done, Trained, Evaluated, Saved, Failure, Heartbeat>;

struct WorkerReply {
  std::int64_t id = 0;
  ReplyKind kind;
  friend bool operator==(const WorkerReply&, const WorkerReply&) = default;
};

// How a worker ended.
struct WorkerDeath {
  enum class Cause {
    kOwn,             // by itself, or by the node manager
    kKilledByOthers,  // by a SIGKILL that neither the node manager nor a memory limit sent
    kOutOfMemory,     // by the kernel, for want of memory
    kUnusable,        // by the node manager, since it had said so of itself
  };
  Cause cause = Cause::kOwn;
  std::string last_words;  // how it ended and the end of what it printed, or why it could not be started
};

}  // namespace espalier::worker
