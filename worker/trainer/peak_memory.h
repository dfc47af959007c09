// The most memory that this process has held resident, as the system counts it. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"

namespace espalier::trainer {

class PeakMemory {
 public:
  // In bytes, since the process began or Forget was called; 0 where the system does not tell. The system is asked at
  // most once in ten milliseconds, for it takes as long as the shortest steps: else the answer is the last one.
  std::int64_t Bytes(Seconds now);

  // Where the system does not let it, peaks of earlier trainings count, too.
  void Forget();

 private:
  std::optional<Seconds> asked_at_;  // none: not since Forget
  std::int64_t bytes_ = 0;
};

}  // namespace espalier::trainer
