// How long a step takes under a plan node, for reports and forecasts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "master/core/state/master_state.h"
#include "scheduler/cost_model.h"

namespace espalier::master {

// What step times depend on besides the configuration, as far as a team may know of it.
struct StepKind {
  TrainingIdentity training;
  std::string device_kind;
  std::string team;
};

// A model of every measured step of this kind, in whatever plan.
CostModel EstimatesOf(const MasterState& state, const StepKind& kind);

// Whether any step of this kind has ever been measured; if not, estimates are guesses.
bool IsAnyMeasured(const MasterState& state, const StepKind& kind);

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

// Of a study's own kind. Refers to the state.
StepTimes StepTimesOf(const MasterState& state, const Study& study);

}  // namespace espalier::master
