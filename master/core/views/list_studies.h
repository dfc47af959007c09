// Pages of studies.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

// What a list says of a study: all that is known of it without looking at its trials.
struct StudyListing {
  StudyId id;
  std::map<std::string, std::int64_t> trials_by_standing;  // "pending" (a claim waits or is served), and as TrialState
  std::int64_t claimed_steps = 0;                          // as StepCounts
  Seconds elapsed{0};
  std::optional<BestTrial> best;
};

// Which studies are wanted, of those that the caller may see.
struct StudyQuery {
  struct BestBy {
    std::string metric;
    Goal goal = Goal::kMaximize;
  };
  std::string state;              // "running" or "finished"; empty: both
  std::optional<BestBy> best_by;  // only those that seek this, the best first; none: the newest first
  std::size_t count_max = 0;      // at least 1
  std::string token;              // of the page before; empty: the first page
};
struct StudyPage {
  std::vector<StudyListing> studies;
  std::string next_token;  // empty: the last page
};

// Error: kInvalidArgument for an unknown state or a token of another list.
Result<StudyPage> ListStudies(const MasterState& state, const StudyQuery& query, const Caller& caller, Time now);

}  // namespace espalier::master
