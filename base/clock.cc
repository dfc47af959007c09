#include "base/clock.h"

#include <time.h>

namespace espalier {

Time Now() { return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()); }

Seconds BootTimeNow() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Seconds MonotonicNow() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace espalier
