// Drives a study by a tuner until the study is finished: reads its events, and submits the driver's batches
// (client/tuners/driver.h). The n-th batch has the request id "<study id>/<n>", n from 0 (its k-th request, where it is
// too large for one: "<study id>/<n>/<k>"). So several may drive one study, at once or one after the other: what was
// submitted already gets its first answer again, and nothing is submitted twice. What a study holds is read before
// anything is submitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "client/evaluation.h"
#include "client/event_reader.h"
#include "client/study_port.h"
#include "client/study_specification.h"
#include "client/tuners/tuner.h"

namespace espalier {

struct DriveOptions {
  std::string metric;  // which one the tuner compares; an evaluation without it counts as NaN
  Goal goal = Goal::kMaximize;
  // Called for each settled claim, in order, with the trial's index of submission. May be empty.
  std::function<void(std::size_t trial, const Evaluation&)> on_settled;
  // Called now and then. May be empty.
  std::function<void(const v1::StudyProgress&)> on_progress;
  // Called when no events come any more, before they do again. May be empty.
  std::function<void()> on_lost = {};
  bool only_begin = false;  // return once the tuner's first batch is submitted, if it has one: somebody else goes on
};

struct DriveReport {
  std::size_t trial_count = 0;
  std::int64_t batch_count = 0;
  bool cancelled = false;  // somebody finished the study before the tuner did
};

// Runs to the study's end, unless it shall only begin, on this thread. Error: the master's (a trial that it refuses,
// with the field), kInternal when the tuner waits for nothing and has not finished, kAborted when the reader was
// cancelled. REQUIRES: the reader is new, and tunes.
Result<DriveReport> Drive(tuners::Tuner& tuner, StudyPort& port, StudyId study, EventReader& reader,
                          const DriveOptions& options);
Result<DriveReport> Drive(tuners::Tuner& tuner, StudyPort& port, StudyId study, const DriveOptions& options);

}  // namespace espalier
