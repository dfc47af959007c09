// Candidates on the rungs of a tuner that compares trials at rungs: where each is claimed. A candidate's own horizon
// ends it early: it is claimed there instead of at a later rung.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

class Ladder {
 public:
  // From the options min, max and reduction: `rungs.h`. Error: kInvalidArgument with the option.
  static Result<Ladder> From(const Options& options, std::vector<Candidate> candidates);

  // REQUIRES: there are rungs, each further than the one before.
  Ladder(std::vector<Candidate> candidates, std::vector<Step> rungs, std::int64_t reduction)
      : candidates_(std::move(candidates)), rungs_(std::move(rungs)), reduction_(reduction) {}

  std::size_t candidate_count() const { return candidates_.size(); }
  std::size_t rung_count() const { return rungs_.size(); }
  std::int64_t reduction() const { return reduction_; }

  Step ClaimAt(std::size_t trial, std::size_t rung) const;

  // The trial with its first claim.
  StartTrial Start(std::size_t trial) const;
  // Every trial with its claims at all rungs at once.
  std::vector<StartTrial> StartsAtAll() const;
  // Every trial, to its horizon.
  std::vector<StartTrial> WholeTrials() const;

 private:
  Step Horizon(std::size_t trial) const;

  std::vector<Candidate> candidates_;
  std::vector<Step> rungs_;
  std::int64_t reduction_;
};

}  // namespace espalier::tuners
