#include "sim/clock.h"

#include <algorithm>

namespace espalier::sim {

Time Clock::time() const {
  constexpr std::chrono::sys_days kMidnight = std::chrono::sys_days(std::chrono::days(11575));  // in 2001
  return kMidnight - std::chrono::minutes(15) + std::chrono::duration_cast<Time::duration>(now_);
}

void Clock::After(Seconds delay, std::function<void()> what) {
  agenda_.emplace(Place{now_ + std::max(delay, Seconds(0)), next_number_++}, std::move(what));
}

bool Clock::RunNext(Seconds until) {
  if (agenda_.empty() || agenda_.begin()->first.first > until) {
    now_ = std::max(now_, until);
    return false;
  }
  auto next = agenda_.extract(agenda_.begin());
  now_ = next.key().first;
  next.mapped()();
  return true;
}

}  // namespace espalier::sim
