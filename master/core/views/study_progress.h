// How far a study is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "master/core/state/master_state.h"

namespace espalier::master {

struct StudyProgress {
  std::map<std::string, std::int64_t> trials_by_state;
  std::int64_t claimed_steps = 0;     // claims that are done or wait
  std::int64_t unique_steps = 0;      // of those, shared ones once
  std::int64_t trained_steps = 0;     // of unique
  Seconds left{-1};                   // estimated for what is claimed now; negative: not known
  std::vector<std::string> warnings;  // of runs that serve it; of a quota that is reached
};

// From counters: O(the study's plans + runs under way).
StudyProgress ProgressOf(const MasterState& state, StudyId study, Time now);

}  // namespace espalier::master
