// The service on which the thesis measured, in the simulator: five servers of eight slots.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/policy.h"
#include "sim/simulated_studies.h"

namespace espalier::bench {

// As the study file bench/studies/NAME.yaml, or the text of one, says. REQUIRES: nothing is wrong with it.
sim::StudyToSimulate ReadStudy(const std::string& name);
sim::StudyToSimulate ParseStudy(const std::string& text);

// Steps of a minute.
sim::Durations UsualWithSteps(Seconds step = Seconds(60));

struct FortySlots {
  std::int64_t seed = 1;
  sim::Durations durations = UsualWithSteps();
  sim::StepDemands demands = {};  // what steps take, if not all as long
  std::string policy{kDefaultPolicy};
  std::int64_t save_every_steps = 0;             // instead of where it pays; 0: where it pays
  bool workers_fail = false;                     // each about once a day
  std::vector<double> speeds = {1, 1, 1, 1, 1};  // of the five servers; the first idle one is taken first
};

// REQUIRES: the master takes the studies.
sim::SimulatedStudies SimulateOnFortySlots(const std::vector<sim::StudyToSimulate>& studies, const FortySlots& service);

}  // namespace espalier::bench
