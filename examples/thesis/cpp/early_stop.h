// Figure 5.3's tuner, in the user's own hands: it stops trials early, by milestones.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "client/evaluation.h"
#include "client/future.h"
#include "client/space/search_space.h"
#include "client/study.h"

namespace thesis {

struct Milestone {
  espalier::Step step;
  std::size_t trials = 0;  // that are trained so far
};

// {{Step{5}, 8}, {Step{10}, 4}}: 8 trials to step 5, and the best 4 of them to step 10.
using Schedule = std::vector<Milestone>;

// Trains the trials of the search space as the schedule says; `metric`, the higher the better, decides. Of equal ones
// the one that was submitted first goes on; what diverged is the worst, and what fails does not go on.
class EarlyStopTuner {
 public:
  // REQUIRES: a milestone at least, in the order of their steps, and no more trials at a later one.
  EarlyStopTuner(Schedule schedule, espalier::SearchSpace search_space, std::string metric);

  // Returns the evaluations at the last milestone, the best first. The study takes more afterwards, of this tuner or
  // another. Error: the master's.
  espalier::Result<std::vector<espalier::Evaluation>> operator()(espalier::Study& study) const;

 private:
  // Waits for all, and returns those that are done, the best first.
  espalier::Result<std::vector<espalier::Evaluation>> Ranked(
      const std::vector<espalier::Future<espalier::Evaluation>>& futures) const;

  Schedule schedule_;
  espalier::SearchSpace search_space_;
  std::string metric_;
};

}  // namespace thesis
