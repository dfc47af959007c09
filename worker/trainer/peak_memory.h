// The most memory that this process has held resident, as the system counts it.
#pragma once

#include <cstdint>

namespace espalier::trainer {

// In bytes, since the process began or ForgetPeak was called; 0 where the system does not tell. Cost: a small file
// read.
std::int64_t PeakBytes();

// Where the system does not let it, peaks of earlier trainings count, too.
void ForgetPeak();

}  // namespace espalier::trainer
