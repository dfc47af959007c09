#include "base/clock.h"

#include <time.h>

namespace espalier {

Time Now() { return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()); }

namespace {

Seconds TimeOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Seconds BootTimeNow() { return TimeOf(CLOCK_BOOTTIME); }

Seconds ThreadTime() { return TimeOf(CLOCK_THREAD_CPUTIME_ID); }

Seconds MonotonicNow() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace espalier
