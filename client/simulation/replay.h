// A trace as studies and a service to simulate, whose trainings take and measure what they really did. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/simulation/trace.h"
#include "sim/recorded_trainings.h"
#include "sim/simulated_studies.h"

namespace espalier {

struct Replay {
  // Those of built-in tuners are asked by them again; of others the trials are asked for when they really were. One
  // that its user cancelled is cancelled after the same time. Each comes `lead` later than it really did.
  std::vector<sim::StudyToSimulate> studies;
  sim::RecordedTrainings recorded;
  std::vector<sim::SimulatedServer> servers;
  sim::Durations durations;
  Seconds lead{0};  // in which the servers start, as they had before the first study came
};

// Error: kInvalidArgument, naming the study and what of it cannot be replayed: a definition or a tuner that this
// program does not know, a sequence, no step that was measured. O(steps of all trials x hyper-parameters).
Result<Replay> ReplayOf(const Trace& trace);

// The parts of it.

// What the user of a study without a built-in tuner asked for, and when.
std::vector<sim::TimedBatch> BatchesOf(const TracedStudy& study);

// Starting a worker: what the first run of some slot was held longer than what it did takes, beyond what the others
// were, at the median. What takes a service some milliseconds at most is as usual.
sim::Durations DurationsOf(const Trace& trace);

}  // namespace espalier
