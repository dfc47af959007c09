// A study's part of the search plan, as people look at it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "master/core/state/master_state.h"
#include "master/core/views/node_costs.h"
#include "master/core/views/placed_stage.h"

namespace espalier::master {

// kReused: by other code, before the state that the lineage begins with.
enum class StageState { kTrained, kReused, kRunning, kWaiting, kPlanned };
std::string_view Name(StageState state);

struct StageView {
  Step from;
  Step to;
  StageState state = StageState::kPlanned;
  std::optional<PlacedStage> placed_on;  // of one that is running
  friend bool operator==(const StageView&, const StageView&) = default;
};

struct PlanNodeView {
  PlanId plan;
  PlanNodeId id;
  std::optional<PlanNodeId> parent;
  Step start;
  std::map<std::string, std::string>
      functions;                  // that differ from the parent's; at a root: what the study's trials name
  std::vector<StageView> stages;  // in order of step, not overlapping
  std::vector<Step> checkpoints;
  std::int64_t trial_count = 0;
  std::map<std::pair<Step, ClaimState>, std::int64_t> claims;  // the study's own: how many
  NodeCosts costs;
  friend bool operator==(const PlanNodeView&, const PlanNodeView&) = default;
};

// All nodes that the study's lineages pass, parents before children. O(trials x depth + plan nodes): for the study's
// part of the state (study_part.h), beside the event loop.
std::vector<PlanNodeView> ViewPlan(const MasterState& state, StudyId study);

}  // namespace espalier::master
