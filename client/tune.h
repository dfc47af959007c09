// Has a tuner decide over trials of its own in a study, from this process. One tuner may follow another in the same
// study; what their trials have in common is trained once.
//   auto sha = tuners::MakeTuner("sha", {{"min", 5}, {"max", 20}, {"reduction", 2}}, {candidates}).value();
//   TuneReport report = Tune(study, *sha, {.metric = "test_acc"}).value();
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/study_choices.h"
#include "client/evaluation.h"
#include "client/study.h"
#include "client/tuners/tuner.h"

namespace espalier {

struct TuneOptions {
  std::string metric{};  // which one the tuner compares; an evaluation without it counts as NaN
  Goal goal = Goal::kMaximize;
};

struct TuneReport {
  std::vector<TrialId> trials;          // the tuner's, in order of submission
  std::vector<Evaluation> evaluations;  // of their claims, as they arrived
};

// Returns when the tuner has decided all that it will decide and its claims are settled: its trials are closed then,
// and the study goes on. On this thread; if the process ends before, nobody carries the tuner on. Errors: the master's,
// such as kFailedPrecondition once somebody has finished the study; kInvalidArgument for a tuner that asks for idle
// slots; kInternal when the tuner waits for nothing and has not finished. REQUIRES: the tuner was not started.
Result<TuneReport> Tune(Study& study, tuners::Tuner& tuner, const TuneOptions& options);

}  // namespace espalier
