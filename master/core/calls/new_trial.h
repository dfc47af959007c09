// What a client's text of a new trial means under its study.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "master/core/event.h"
#include "master/core/state/study.h"
#include "searchplan/sequence/configuration.h"

namespace espalier::master {

// A new trial that can be entered.
struct ResolvedTrial {
  const NewTrial* trial = nullptr;
  Step horizon;
  std::vector<JointSegment> segments;
};

// Error: kInvalidArgument with the field: "steps", "horizon_steps", "more_steps", or the hyper-parameter's name; as
// ResolveTrial. The result refers to `trial`.
Result<ResolvedTrial> Resolve(const Study& study, const NewTrial& trial);

// How many steps the trials of a study may go together, by their horizons: what is counted of them fits 64 bits.
inline constexpr std::int64_t kStudyStepsMax = std::int64_t{1} << 62;

// Adds the trial's horizon to the sum. Error: kResourceExhausted of "horizon_steps", and nothing is added.
Result<void> CountHorizon(const ResolvedTrial& trial, std::int64_t& sum);

}  // namespace espalier::master
