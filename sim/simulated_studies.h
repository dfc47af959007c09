// Studies with their tuners on one service in virtual time: how long they take, and what is trained. Nothing goes wrong
// but that tuners' hosts may be killed, and workers; metrics follow a formula, or are those of tables. The cores, the
// drivers and the tuners are the real ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/views/study_summary.h"
#include "scheduler/policy.h"
#include "scheduler/slot_id.h"
#include "sim/learning_curves.h"
#include "sim/service.h"
#include "sim/tuned_study.h"

namespace espalier::sim {

// Typical times where nobody says otherwise: a step of 1 s, and what belongs to it.
inline constexpr Durations kUsualDurations{.network = Seconds(0.001),
                                           .commit = Seconds(0.001),
                                           .upload = Seconds(0.05),
                                           .fetch = Seconds(0.01),
                                           .start_worker = Seconds(2),
                                           .set_up = Seconds(0.2),
                                           .load = Seconds(0.2),
                                           .train = Seconds(1),
                                           .evaluate = Seconds(0.5),
                                           .save = Seconds(0.2)};

struct ServiceToSimulate {
  std::vector<SimulatedServer> servers = {SimulatedServer{}};  // one at least
  std::uint64_t seed = 1;
  Durations durations = kUsualDurations;              // of a server of speed 1
  std::string policy{kDefaultPolicy};                 // REQUIRES: known
  std::int64_t save_every_steps = 0;                  // as in ReactorSettings
  Seconds between_failures = std::chrono::hours{24};  // likewise
  bool workers_fail = false;                          // each is killed about as often, at random moments
  Measures measures = {};
  // Is told of each step as it was trained: the place of a study that its run serves, for each of them, the step that
  // was reached, and when, since the simulation began.
  std::function<void(std::size_t, Step, Seconds)> trained = {};
  // Likewise of each evaluation, as the master stores it.
  std::function<void(const Metrics&, Seconds)> measured = {};
};

struct SimulatedStudy {
  Seconds end_to_end{0};  // from the call that creates the study until its user hears that it is finished
  master::StudySummary summary;
  std::vector<StudyEvent> events;  // all of them, in order
};

// Over all studies.
struct SimulatedSteps {
  std::int64_t claimed = 0;  // over their trials: up to the last claim that was done
  std::int64_t unique = 0;   // of those, steps that trials share, of whichever study, counted once
  std::int64_t trained = 0;
  std::int64_t saved = 0;  // after which the state was stored
};

// What a slot was held for.
struct SimulatedRun {
  SlotId slot;
  int slots = 1;         // in the equal shares of so many that fits which it had of the slot's device
  Seconds held_from{0};  // since the simulation began
  Seconds held_until{0};
  std::map<std::size_t, Seconds> charged = {};  // its device time, by the places of the studies that it served
};

struct SimulatedStudies {
  std::vector<SimulatedStudy> studies;  // as they were given
  std::vector<SimulatedRun> runs;       // in the order in which they were given to servers
  Estimated estimated;                  // where trainings were recorded
  SimulatedSteps steps;
  Seconds end_to_end{0};  // from the first one's arrival until the last one is finished
  Seconds slot_time{0};   // for which slots were held, over all of them
  Seconds bound{0};       // no schedule of what was asked for ends sooner (MakespanBound of each study)
};

// Deterministic. REQUIRES: one study at least. Error: as the master refuses a study or a trial of it; kInternal when
// they are not finished within a month of virtual time; kNotFound when a table has no row for what is evaluated.
// `study`, unless it is null, is then the place in `studies` of the one that it is about.
Result<SimulatedStudies> SimulateStudies(const ServiceToSimulate& service, const std::vector<StudyToSimulate>& studies,
                                         std::size_t* study = nullptr);

// The same of one study.
Result<SimulatedStudy> SimulateStudy(const ServiceToSimulate& service, const StudyToSimulate& study);

}  // namespace espalier::sim
