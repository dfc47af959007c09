#include "scheduler/even_end.h"

#include <algorithm>
#include <chrono>

namespace espalier {
namespace {

constexpr std::chrono::seconds kLookEvery{1};
constexpr double kOfItsLength = 0.1;
constexpr double kChanges = 10;

bool IsMuchLonger(Seconds waiting, const Contest& contest) {
  return waiting - contest.runs.front().left > std::max(kOfItsLength * waiting, kChanges * contest.switching);
}

}  // namespace

std::optional<Action> EvenEnd::Decide(const View& view, Time now) {
  if (const std::optional<StartPath> start = view.BestStart()) return start;
  if (now - looked_at_ < kLookEvery) return std::nullopt;
  for (const Contest& contest : view.Contests()) {
    if (contest.runs.empty() || contest.leaving >= contest.waiting.size()) continue;
    if (IsMuchLonger(contest.waiting[contest.leaving], contest)) return PreemptRun{contest.runs.front().run};
  }
  looked_at_ = now;
  return std::nullopt;
}

}  // namespace espalier
