// The user of one study who leaves it to a tuner: what the study's events say goes in, calls come out. What the tuner
// driver is to real users. Pure; one thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/study_choices.h"
#include "master/core/event.h"

namespace espalier::tuners {
class Tuner;
}

namespace espalier::sim {

class TunerUser {
 public:
  // REQUIRES: the tuner was not started, and outlives the user.
  TunerUser(tuners::Tuner& tuner, std::string metric, Goal goal)
      : tuner_(tuner), metric_(std::move(metric)), goal_(goal) {}

  // The first call; without study and user, and so are the others. None: the tuner wants nothing.
  std::optional<master::SubmitBatch> Begin();
  // What follows from one more event, in their order; mostly none.
  std::optional<master::SubmitBatch> OnEvent(const master::StudyEvent& event);

 private:
  tuners::Tuner& tuner_;
  const std::string metric_;
  const Goal goal_;
  std::vector<TrialId> trials_;  // by index of submission
  std::map<TrialId, std::size_t> index_of_;
};

}  // namespace espalier::sim
