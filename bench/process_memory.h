// How much memory a process has resident, in bytes, as the system counts it. Gives up if there is no such process.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace espalier::bench {

std::int64_t ResidentBytes(pid_t process);

// The most since the process began, or since the peak was forgotten.
std::int64_t PeakBytes(pid_t process);
void ForgetPeak(pid_t process);

}  // namespace espalier::bench
