// What a node manager tells the master: where its runs stand, and what has happened. Reports are numbered within an
// incarnation, kept until they are acknowledged, and said again; results are taken by content, however often they come.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/metrics.h"
#include "base/point.h"
#include "protocol/order.h"

namespace espalier {

// A state was evaluated. Not finite is a result, too.
struct MetricsMeasured {
  PlanId plan;
  Point point;
  Digest128 lineage;  // of point.node
  std::string evaluation;
  Metrics metrics;
  Seconds time{0};
};

// What steps of a plan node returned as they were trained, in batches (protocol/training_metrics.h): sent about once a
// second, and when training ends. Not finite is a value, too.
struct TrainingMetrics {
  PlanId plan;
  PlanNodeId node;
  Digest128 lineage;  // of the node
  MetricSeries series;
};

// A whole file in the checkpoint store: checked, synced, under its final name.
struct StateStored {
  PlanId plan;
  Point point;
  Digest128 lineage;
  std::string file;  // name within the store
  std::int64_t bytes = 0;
  std::string state_sha256;
  Seconds time{0};  // from asking for the save until it was written
};

// A promise will not be kept; what comes of the run is another matter.
struct PromiseLost {
  PromiseId promise;  // 0: a save that nobody had asked for, named by RunEnded; then by `step`
  Step step;
  std::string why;  // for people, one line
};

// From the worker's own step log: steps (from, to] of a plan node, and the sum of their times. Repeated parts count
// once.
struct StepsTrained {
  PlanNodeId node;
  Step from;
  Step to;
  Seconds time{0};
};

// Training stopped by a fault, or for good. The run ends (RunEnded follows).
struct RunFailed {
  enum class Kind {
    kCrash,        // the worker died, or hung and was killed
    kKilled,       // by a SIGKILL that neither the node manager nor a memory limit sent
    kTrainer,      // the trainer's own error, or bad data: would fail again
    kOutOfMemory,  // of the device or the server: may succeed with more
    kDiverged,     // a loss or metric of training is not finite at `point`
    kUnusable,     // the worker could train nothing any more, as it said: its device failed, as a rule
    kFinished,  // the trainer says that its training is over, at the step before `point`; its metrics there went before
  };
  Kind kind = Kind::kCrash;
  Point point;          // reached, or being trained
  std::string message;  // traceback, or the last lines of the worker's log
};
std::string_view Name(RunFailed::Kind kind);

// An evaluation failed; training did not. The run goes on if the worker says that its state is intact.
struct EvaluationFailed {
  enum class Kind { kCrash, kTrainer, kOutOfMemory, kUnusable };
  Kind kind = Kind::kTrainer;
  Point point;
  std::string evaluation;
  std::string message;
};

// The file that the run should have started from is missing or damaged. Says nothing of other files of that point.
struct StartUnusable {
  Point point;
  std::string file;
  std::string why;
};

// The checkpoint store had no room for a state of the run, which waits in staging and is tried again: said each time.
struct StoreFull {
  std::int64_t bytes = 0;  // that the state takes
};

// What a stage of a run held of its server, as far as anybody told; 0: not known.
struct StageUse {
  PlanNodeId node;
  std::int64_t process_bytes = 0;  // the most memory of its worker, since the run began
  std::int64_t device_bytes = 0;   // the same of its GPU's memory
  std::int64_t looks = 0;          // at its GPU while it alone trained there, some a second apart
  std::int64_t utilization = 0;    // thousandths of the GPU's time in use: the sum of all looks
  friend bool operator==(const StageUse&, const StageUse&) = default;
};

// Training has stopped and the slot is free. Whatever the run still owes is lost, but for the states that are on their
// way to the store.
struct RunEnded {
  Step step;  // reached
  Seconds slot_time{0};
  Seconds set_up_time{0};  // Init and Setup; 0: not done
  Seconds load_time{0};    // 0: nothing loaded
  std::vector<Step> saves_under_way;
  std::vector<StageUse> stages;  // that it trained, in order; each plan node once
  std::string refused;           // why the order was not begun at all; empty: it was
};

using ReportKind = std::variant<MetricsMeasured, TrainingMetrics, StateStored, PromiseLost, StepsTrained, RunFailed,
                                EvaluationFailed, StartUnusable, StoreFull, RunEnded>;

struct Report {
  std::int64_t number = 0;  // counts up from 1
  RunKey run;
  ReportKind kind;
};

// Where a run stands.
struct RunStatus {
  enum class State {
    kTraining,  // waits for its slot, or holds it
    kSaving,    // the slot is free, states are on their way
    kEnded,     // nothing more will come
  };
  RunKey run;
  std::int64_t generation = 0;  // of the terms taken over
  Step step;                    // begun or reached when they were, and now: a promise at or beyond it counts
  State state = State::kTraining;
  friend bool operator==(const RunStatus&, const RunStatus&) = default;
};

}  // namespace espalier
