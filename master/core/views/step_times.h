// How long a step takes under a plan node, for reports and forecasts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "master/core/state/master_state.h"
#include "scheduler/cost_model.h"

namespace espalier::master {

// What step times depend on besides the configuration, as far as a team may know of it.
struct StepKind {
  TrainingIdentity training;
  std::string device_kind;
  std::string team;
  friend bool operator==(const StepKind&, const StepKind&) = default;
};

// Whether what was measured in the plan is of this kind.
bool IsOfKind(const MasterState& state, const SearchPlan& plan, const StepKind& kind);

// Nodes of one kind, of whatever plans, under which steps were measured.
class MeasuredNodes {
 public:
  // Nothing, if no step was. O(ranges trained under it).
  void Add(const PlanNode& node);
  // A model of every step that was measured. O(nodes log nodes).
  CostModel Estimates() &&;

 private:
  std::vector<PlanNode> nodes_;  // only what estimates need
};

// By node: the mean that was measured under it, else an estimate.
class StepTimes {
 public:
  // `estimates` is called once, when first needed.
  explicit StepTimes(std::function<CostModel()> estimates) : make_estimates_(std::move(estimates)) {}

  Seconds Of(const PlanNode& node);

 private:
  std::function<CostModel()> make_estimates_;
  std::optional<CostModel> estimates_;
  std::map<PlanNodeId, Seconds> known_;
};

// Of a study's own kind, by all the plans in the state. Refers to the state. The first estimate costs O(plan nodes).
StepTimes StepTimesOf(const MasterState& state, const Study& study);

}  // namespace espalier::master
