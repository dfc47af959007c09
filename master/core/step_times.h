// How long a step takes under a plan node, for reports and forecasts.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "master/core/master_state.h"
#include "scheduler/cost_model.h"

namespace espalier {

// Of one training identity on one device kind, as a team may know it: the mean that was measured under the node, else
// the estimate of a cost model over every such plan of that kind. Refers to the state it was made from.
class StepTimes {
 public:
  StepTimes(const MasterState& state, const TrainingIdentity& training, const std::string& device_kind,
            const std::string& team)
      : state_(state), training_(training), device_kind_(device_kind), team_(team) {}

  Seconds Of(const PlanNode& node);

  // Whether any step of this kind has ever been measured; if not, estimates are guesses.
  bool IsAnyMeasured() const;

 private:
  bool IsOfThisKind(const SearchPlan& plan) const;
  const CostModel& Estimates();

  const MasterState& state_;
  const TrainingIdentity training_;
  const std::string device_kind_;
  const std::string team_;
  std::map<PlanNodeId, Seconds> known_;
  std::optional<CostModel> estimates_;  // made when first needed
};

}  // namespace espalier
