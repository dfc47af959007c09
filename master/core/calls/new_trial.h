// What a client's text of a new trial means under its study.
#pragma once

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

}  // namespace espalier::master
