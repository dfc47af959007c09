// What studies would cost, before anything runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/event.h"
#include "master/core/views/sequence_hints.h"
#include "master/core/views/state_reader.h"

namespace espalier::master {

struct ForecastStudy {
  StudySpecification specification;
  std::vector<NewTrial> trials;
};

struct StudyForecast {
  std::string name;
  std::int64_t trials = 0;
  std::int64_t total_steps = 0;
  std::int64_t unique_steps = 0;
  bool is_kept_to_itself = false;  // the scope that was asked for is wider than ScopeOf, its data being unknown
};

// What is not known is left out, not guessed.
struct Forecast {
  std::int64_t total_steps = 0;
  std::int64_t unique_steps = 0;
  std::optional<std::int64_t> trained_steps;     // of unique, trained already, or reused; needs the device kind
  std::int64_t reused_steps = 0;                 // of unique: they come with the states of studies that are reused
  std::optional<Seconds> slot_time;              // of what remains (forecast_times.h); needs a measured step
  std::optional<Seconds> critical_path;          // the longest lineage of what remains; the same
  std::optional<std::int64_t> checkpoint_bytes;  // one at each end and branch point; needs a stored one of the training
  std::vector<StudyForecast> studies;
  SequenceHints hints;
};

// What these studies together would cost if every trial went to its horizon; nothing is changed. A space may be large:
// the state is looked at in turns, each short, between which it may change. No server is needed. A trainer that nobody
// has registered is taken as one that declares nothing and takes any hyper-parameters, if the specification says their
// types. Error: as for creating the studies and submitting the trials, with "studies[i]" before the field; or the
// reader's.
Result<Forecast> ForecastStudies(const StateReader& read, const std::vector<ForecastStudy>& studies,
                                 const std::string& team);

}  // namespace espalier::master
