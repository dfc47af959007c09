#include "scheduler/even_end.h"

#include <algorithm>
#include <chrono>

namespace espalier {
namespace {

constexpr std::chrono::seconds kLookEvery{1};
constexpr double kOfItsLength = 0.1;
constexpr double kChanges = 10;

// A path that could begin now, or when the run ends that has as many others with less left as longer paths wait.
struct Choice {
  Seconds waiting{0};
  Contest::Left run;
};

std::vector<Choice> ChoicesOf(const Contest& contest) {
  std::vector<Choice> choices;
  auto run = contest.runs.rbegin();
  for (std::size_t i = contest.leaving; i < contest.waiting.size() && run != contest.runs.rend(); ++i, ++run) {
    choices.push_back({contest.waiting[i], *run});
  }
  return choices;
}

// The runs with the least left, up to the last whose path would end after all other work if it began no sooner than the
// run ends.
void AddPreempted(const Contest& contest, std::vector<RunId>& runs) {
  const std::vector<Choice> choices = ChoicesOf(contest);
  const auto is_much_longer = [&](const Choice& choice) {
    return choice.waiting - choice.run.left > std::max(kOfItsLength * choice.waiting, kChanges * contest.switching);
  };
  const auto is_late = [&](const Choice& choice) {
    return is_much_longer(choice) && choice.run.left + choice.waiting > contest.work_a_slot;
  };
  const auto last = std::find_if(choices.rbegin(), choices.rend(), is_late).base();
  for (auto choice = choices.begin(); choice != last; ++choice) {
    if (is_much_longer(*choice)) runs.push_back(choice->run.run);
  }
}

}  // namespace

std::optional<Action> EvenEnd::Decide(const View& view, Time now) {
  if (const std::optional<StartPath> start = view.BestStart()) return start;
  if (now - looked_at_ >= kLookEvery) {
    looked_at_ = now;
    to_preempt_.clear();
    for (const Contest& contest : view.Contests()) AddPreempted(contest, to_preempt_);
    std::ranges::reverse(to_preempt_);
  }
  if (to_preempt_.empty()) return std::nullopt;
  const RunId run = to_preempt_.back();
  to_preempt_.pop_back();
  return PreemptRun{run};
}

}  // namespace espalier
