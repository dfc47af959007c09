// The checkpoints that a study, or a trial, can start from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "master/core/state/master_state.h"

namespace espalier::master {

struct ListedCheckpoint {
  Point point;
  Checkpoint checkpoint;
};

struct CheckpointPage {
  std::vector<ListedCheckpoint> checkpoints;  // by point
  std::string next_token;                     // empty: the last page
};

// Those on the lineages of the study's trials that its team may know of: in a plan of everyone, where trials of its own
// have claims or end. `token`: of the page before; empty: the first page. O(the study). Error: kInvalidArgument for a
// token of something else. REQUIRES: `part` is as CopyStudy gives it.
Result<CheckpointPage> ListCheckpoints(const MasterState& part, StudyId study, std::size_t count_max,
                                       const std::string& token);

// Those on the trial's lineage, up to its horizon, by step; in a plan of everyone, where it has claims.
// O(depth + checkpoints on the lineage + claims). REQUIRES: the trial exists.
std::vector<ListedCheckpoint> CheckpointsOf(const MasterState& state, TrialId trial);

}  // namespace espalier::master
