// How long lineages take that nobody has trained yet: for forecasts.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cost_sums.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// Where a trial is evaluated, by one evaluation identity.
using EvaluatedPoint = std::pair<Point, std::string>;

// A trial's lineage in a plan that says what was trained and measured under its nodes.
struct LineageToTrain {
  const SearchPlan* plan = nullptr;
  PlanNodeId leaf;
  Step horizon;
  std::vector<Step> asked;          // where it is evaluated for its own sake; sorted, unique, at most the horizon
  std::int64_t evaluate_every = 0;  // and where a run passes; 0: nowhere
  std::string evaluation;
  const CostSums* costs = nullptr;  // of its kind of training
};

struct TimesToTrain {
  Seconds slot_time{0};
  Seconds critical_path{0};  // of the longest lineage
};

// The time that the lineages take a slot, each shared step once, if every stretch that no other goes on from is a run:
// Init and Setup, or loading the state where it begins; its steps; the evaluations where it passes or ends; saving its
// last state (others are saved beside training). What is trained takes nothing, but for an evaluation that is missing
// there (not in `answered`), for which a state is loaded. A step takes what CostSums::Time says, all else counts where
// it was measured, and is else left out. None: there are steps to be trained, and none of such a training was ever
// measured. O(trials x (depth + log trials) + CostSums::Estimate for each node).
std::optional<TimesToTrain> TimesOf(std::vector<LineageToTrain> lineages, const StepSet& trained,
                                    const std::set<EvaluatedPoint>& answered);

}  // namespace espalier::master
