#include "client/tuners/ladder.h"

#include <algorithm>

#include "client/tuners/rungs.h"

namespace espalier::tuners {

Result<Ladder> Ladder::From(const Options& options, std::vector<Candidate> candidates) {
  ESPALIER_ASSIGN(const Step least, StepOption(options, "min", Step{1}));
  ESPALIER_ASSIGN(const Step most, StepOption(options, "max", least));
  ESPALIER_ASSIGN(const std::int64_t reduction, WholeOption(options, "reduction", 2));
  return Ladder(std::move(candidates), Rungs(least, most, reduction), reduction);
}

Step Ladder::Horizon(std::size_t trial) const {
  return std::min(rungs_.back(), candidates_[trial].steps.value_or(rungs_.back()));
}

Step Ladder::ClaimAt(std::size_t trial, std::size_t rung) const { return std::min(rungs_[rung], Horizon(trial)); }

StartTrial Ladder::Start(std::size_t trial) const {
  return StartTrial{candidates_[trial].sequences, ClaimAt(trial, 0), Horizon(trial)};
}

std::vector<StartTrial> Ladder::StartsAtAll() const {
  std::vector<StartTrial> starts;
  for (std::size_t trial = 0; trial < candidates_.size(); ++trial) {
    StartTrial& start = starts.emplace_back(Start(trial));
    Step last = start.steps;
    for (std::size_t rung = 1; rung < rungs_.size() && last < start.horizon; ++rung) {
      last = ClaimAt(trial, rung);
      start.more.push_back(last);
    }
  }
  return starts;
}

std::vector<StartTrial> Ladder::WholeTrials() const {
  std::vector<StartTrial> trials;
  for (std::size_t trial = 0; trial < candidates_.size(); ++trial) {
    trials.push_back(StartTrial{candidates_[trial].sequences, Horizon(trial), Horizon(trial)});
  }
  return trials;
}

}  // namespace espalier::tuners
