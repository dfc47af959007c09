#include "base/clock.h"

namespace espalier {

Time Now() { return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()); }

Seconds MonotonicNow() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace espalier
