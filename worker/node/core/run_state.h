// Where a run stands, from its order to its end.
//
//   Waiting ──> OnSlot: Starting ──> Evaluating, Training, AwaitingRoom, ... ──> Over ──> Ended
//      ^                   │ the load failed once, or less than Init        │        the step log was read, the end is
//      reported └───────────────────┘           Stopping, Dying: whatever is answered now, training ends
#pragma once

#include <deque>
#include <optional>
#include <variant>

#include "protocol/report.h"
#include "worker/node/core/standing.h"

namespace espalier::node {

// A worker that is still writing a state is not killed for so long.
inline constexpr Seconds kSavePatience{30};

// For its slot.
struct Waiting {
  bool load_failed = false;  // once before
};

// The worker is asked for Init, and, where there is a start, for Setup and Load; or for less, where it has trained
// before.
struct Starting {
  bool load_failed = false;  // once before
  Beginning beginning = Beginning::kInit;
  bool begin_again = false;  // less did not do: with Init, once all is answered
};
struct Evaluating {};
// The worker is asked for a step, and for what Setup it needs.
struct Training {};
// It owes a state here, and staging has no room for it: the worker is asked for nothing.
struct AwaitingRoom {};
// Nobody needs the run any more: it ends with what the worker is at.
struct Stopping {
  Seconds patience_ends{0};  // then the worker is killed
};
// The worker was told to be killed.
struct Dying {
  std::optional<ReportKind> fault;  // of a hang
};

// What a request is about, as limits and times tell them apart.
enum class Work { kSetUp, kLoad, kTrain, kEvaluate };

struct OnSlot {
  Seconds since{0};
  std::variant<Starting, Evaluating, Training, AwaitingRoom, Stopping, Dying> activity;
  std::deque<Work> asked;    // not answered yet, but for saves; the worker is at the first
  Seconds working_since{0};  // at that one
  Seconds heard_at{0};       // the last heartbeat, of whatever request
  bool set_up = false;       // the first Setup was answered
};

// Training has ended, the slot is free, and the step log has still to be read.
struct Over {
  std::optional<ReportKind> fault;  // why
};

// The end is reported. States may still be on their way.
struct Ended {};

using RunState = std::variant<Waiting, OnSlot, Over, Ended>;

}  // namespace espalier::node
