// Pages of the runs that have served a study.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

struct RunPage {
  std::vector<RunId> runs;  // in the order of their orders
  std::string next_token;   // empty: the last page
};

// `token`: of the page before; empty: the first page. O(count_max + log runs of the study). Error: kInvalidArgument for
// a token of something else. REQUIRES: count_max is at least 1.
Result<RunPage> ListRuns(const MasterState& state, StudyId study, std::size_t count_max, const std::string& token);

}  // namespace espalier::master
