// What the index of needs must say, from scratch: the stage tree by Algorithm 1, and law 8's promises.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "scheduler/need_index.h"
#include "scheduler/needed_promises.h"
#include "scheduler/stage_tree.h"

namespace espalier {

// What has to be done, one line each: a stage or an evaluation, and whether it is ready, waits for a promise, or hangs
// from another stage.
using Work = std::set<std::string>;
Work WorkOf(const StageTree& tree);
Work WorkOf(const NeedIndex& index, const SearchPlan& plan);

// What differs between what the runs promise and what law 8 asks of them; empty: nothing. States beyond what claims
// need are no fault: the runner has reached them, or they are kept for open trials.
std::vector<std::string> WrongPromises(const SearchPlan& plan, const std::vector<RunView>& runs);

}  // namespace espalier
