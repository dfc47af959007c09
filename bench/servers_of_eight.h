// Servers of eight slots in the simulator: five of them, as the thesis measured on, unless said otherwise.
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

struct ServersOfEight {
  std::int64_t seed = 1;
  sim::Durations durations = UsualWithSteps();
  sim::StepDemands demands = {};  // what steps take, if not all as long
  std::string policy{kDefaultPolicy};
  std::int64_t save_every_steps = 0;             // instead of where it pays; 0: where it pays
  bool workers_fail = false;                     // each about once a day
  std::vector<double> speeds = {1, 1, 1, 1, 1};  // each server's; the first idle one is taken first
};

// REQUIRES: the master takes the studies.
sim::SimulatedStudies SimulateOn(const std::vector<sim::StudyToSimulate>& studies, const ServersOfEight& service);

}  // namespace espalier::bench
