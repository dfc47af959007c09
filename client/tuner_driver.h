// The driver: joins a tuner to a study's futures until the study is finished.
// The n-th batch of actions has the request id "<study id>/<n>", n from 0 (its k-th request, where it is too large for
// one: "<study id>/<n>/<k>"), and evaluations reach the tuner in the order
// of the study's events. So two drivers of one study, or one that was started again, replay the same batches: what was
// submitted already gets its first answer again, and nothing is submitted twice.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "client/evaluation.h"
#include "client/study.h"
#include "client/study_specification.h"
#include "client/tuners/tuner.h"

namespace espalier {

struct DriveOptions {
  std::string metric;  // which one the tuner compares; an evaluation without it counts as NaN
  Goal goal = Goal::kMaximize;
  // Called for each settled claim of the tuner's, in order. May be empty.
  std::function<void(std::size_t trial, const Evaluation&)> on_settled;
};

struct DriveReport {
  std::size_t trial_count = 0;
  std::size_t batch_count = 0;
  bool cancelled = false;  // somebody finished the study before the tuner did
};

// Runs to the study's end, on this thread. Error: the master's (a trial that it refuses, with the field), or kInternal
// when the tuner waits for nothing and has not finished.
Result<DriveReport> Drive(tuners::Tuner& tuner, Study& study, const DriveOptions& options);

}  // namespace espalier
