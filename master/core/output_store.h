// The port to what runs have printed. It is no part of the master's state: nothing is decided by it, and it is held
// nowhere but in the database. Thread-safe; calls wait for the database, so the event loop makes none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/run_output.h"
#include "scheduler/slot_id.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// A piece as it is stored.
struct StoredOutput {
  std::int64_t number = 0;  // counts up as pieces are stored
  RunId run;
  SlotId slot;
  OutputPiece piece;
};

// Which pieces are asked for: of runs that serve or have served the team's studies, on the way to steps of a lineage;
// what was printed before a run's first step goes with that step, and with the point that a run only evaluates.
struct OutputQuery {
  std::vector<StepRange> lineage;
  std::string team;
  std::int64_t after = 0;  // those stored behind that number
};

class OutputStore {
 public:
  virtual ~OutputStore() = default;

  // Stores the pieces that are not stored yet. Of each run its beginning is kept and its end, and over all the output
  // of the newest runs. Errors: kNotFound when no such node manager was given the run; kUnavailable.
  virtual Result<void> Put(const RunOutput& output) = 0;

  // In the order in which they were stored, as many as have kOutputPageBytes together, one at least; fewer only at the
  // end. Error: kUnavailable.
  virtual Result<std::vector<StoredOutput>> Read(const OutputQuery& query) = 0;
};

inline constexpr std::int64_t kOutputPageBytes = std::int64_t{1} << 20;
// Of one run: so much of its beginning is kept, and of its end.
inline constexpr std::int64_t kOutputFirstBytes = std::int64_t{64} << 10;
inline constexpr std::int64_t kOutputLastBytes = std::int64_t{192} << 10;

}  // namespace espalier::master
