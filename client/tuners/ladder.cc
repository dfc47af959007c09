#include "client/tuners/ladder.h"

#include <algorithm>

#include "client/tuners/rungs.h"

namespace espalier::tuners {

Result<Ladder> Ladder::From(const Options& options, std::vector<Candidate> candidates) {
  ESPALIER_ASSIGN(const std::int64_t least, WholeOption(options, "min", 1));
  ESPALIER_ASSIGN(const std::int64_t most, WholeOption(options, "max", least));
  ESPALIER_ASSIGN(const std::int64_t reduction, WholeOption(options, "reduction", 2));
  if (most > kStepMax.value) {
    return MakeError(ErrorCode::kInvalidArgument, "got " + std::to_string(most) + "; expected at most 2^53", "max");
  }
  return Ladder(std::move(candidates), Rungs(Step{least}, Step{most}, reduction), reduction);
}

Step Ladder::Horizon(std::size_t trial) const {
  return std::min(rungs_.back(), candidates_[trial].steps.value_or(rungs_.back()));
}

Step Ladder::ClaimAt(std::size_t trial, std::size_t rung) const { return std::min(rungs_[rung], Horizon(trial)); }

StartTrial Ladder::Start(std::size_t trial) const {
  return StartTrial{candidates_[trial].sequences, ClaimAt(trial, 0), Horizon(trial)};
}

std::vector<StartTrial> Ladder::WholeTrials() const {
  std::vector<StartTrial> trials;
  for (std::size_t trial = 0; trial < candidates_.size(); ++trial) {
    trials.push_back(StartTrial{candidates_[trial].sequences, Horizon(trial), Horizon(trial)});
  }
  return trials;
}

}  // namespace espalier::tuners
