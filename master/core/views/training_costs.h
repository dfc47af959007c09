// What a kind of training costs, as far as a team may know of it: for forecasts. The engine itself ranks, limits and
// shows progress by MasterState::costs, which are such sums too, of all teams; where a team may know every plan of the
// kind, both are the same.
#pragma once

#include <string>
#include <vector>

#include "master/core/state/master_state.h"
#include "scheduler/cost_sums.h"

namespace espalier::master {

// What costs depend on besides the configuration, and who asks.
struct TrainingKind {
  TrainingIdentity training;
  std::string device_kind;
  std::string team;
  friend bool operator==(const TrainingKind&, const TrainingKind&) = default;
};

// Whether what was measured in the plan is of this kind.
bool IsOfKind(const MasterState& state, const SearchPlan& plan, const TrainingKind& kind);

// Copies of nodes of one kind, of whatever plans, under which anything was measured.
class MeasuredNodes {
 public:
  // On the event loop. O(kinds of costs); nothing is copied of a node where nothing was measured.
  void Add(const PlanNode& node);

  // Beside it. O(nodes added x CostSums::Replace).
  CostSums Sums() const;

 private:
  std::vector<PlanNode> nodes_;  // only what the sums need
};

}  // namespace espalier::master
