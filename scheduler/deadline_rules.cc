#include "scheduler/deadline_rules.h"

#include <algorithm>

namespace espalier {

double SpeedOn(std::int64_t slots, const std::map<std::int64_t, double>& said) {
  const auto next = said.lower_bound(slots);
  std::pair<std::int64_t, double> before(1, 1);
  if (next != said.begin()) before = *std::prev(next);
  if (next == said.end() || slots == 1) return before.second;
  const double share = static_cast<double>(slots - before.first) / static_cast<double>(next->first - before.first);
  return before.second + share * (next->second - before.second);
}

bool IsWorthEntering(const TimeToEnter& time, std::int64_t reduction) {
  const Seconds whole = static_cast<double>(time.steps) * time.step;
  return std::min(whole, static_cast<double>(reduction) * time.furthest) < time.left;
}

std::vector<std::int64_t> Deal(std::int64_t slots, std::size_t trials) {
  const auto count = static_cast<std::int64_t>(trials);
  std::vector<std::int64_t> dealt(trials, slots / count);
  for (std::int64_t i = 0; i < slots % count; ++i) ++dealt[static_cast<std::size_t>(i)];
  return dealt;
}

bool IsWorthResizing(Seconds left, Seconds change, double speed, double speed_then) {
  return (left - change) * speed_then > left * speed;
}

}  // namespace espalier
