// One study with its tuner in virtual time: how long it takes on so many slots, and what is trained. Nothing goes
// wrong but that the tuner's host may be killed; metrics follow a formula, or are those of a table. The cores, the
// driver and the tuner are the real ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/study_event.h"
#include "client/tuners/tuner.h"
#include "master/core/views/study_summary.h"
#include "sim/world.h"

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

struct StudyToSimulate {
  master::StudySpecification specification;
  int slot_count = 2;  // of one server
  std::uint64_t seed = 1;
  Durations durations = kUsualDurations;
  std::string policy = "critical_path";               // REQUIRES: known
  std::shared_ptr<const LearningCurves> curves = {};  // null: metrics follow a formula
  // The tuner's host is killed when it has read so many of the study's events: what it knows and has on the way is
  // lost, and five seconds later another host reads them from the first.
  std::set<std::size_t> host_killed_after = {};
};

struct SimulatedStudy {
  Seconds end_to_end{0};  // from the call that creates the study until its user hears that it is finished
  master::StudySummary summary;
  std::vector<StudyEvent> events;  // all of them, in order
};

// A new one, not started, always of the same trials and options.
using TunerMaker = std::function<std::unique_ptr<tuners::Tuner>()>;

// Deterministic. Error: as the master refuses the study or a trial of it; kInternal when the tuner does not finish it
// within a month of virtual time; kNotFound when the table has no row for what is evaluated.
Result<SimulatedStudy> SimulateStudy(const StudyToSimulate& study, const TunerMaker& make_tuner);

}  // namespace espalier::sim
