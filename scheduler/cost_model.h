// How long things take (TreeML 5.2): measured where a plan node has been trained, else estimated by linear regression
// over hyper-parameter values from the other nodes of its training identity, else 1 second a step. Of very many
// hyper-parameters only some count: those first that differ among the measurements.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "searchplan/plan/search_plan.h"

namespace espalier {

class CostModel {
 public:
  // A hyper-parameter: the schema's by its index, or an undeclared one by its name.
  struct Subject {
    std::size_t index = 0;
    std::string undeclared = {};
    friend auto operator<=>(const Subject&, const Subject&) = default;
  };

  // From the trained ranges of the plan. Deterministic.
  static CostModel FromPlan(const SearchPlan& plan);

  // Whether any step of the plan was measured.
  bool is_measured() const { return !measured_.empty(); }

  // Of one step under this node; > 0. An estimate is never below a hundredth of the shortest measured.
  Seconds StepTime(const PlanNode& node) const;

 private:
  // One column of the regression: a hyper-parameter's numeric value at a node's start (booleans 0 and 1), or whether it
  // is a certain text.
  struct Feature {
    Subject subject;
    std::optional<std::string> text;
  };

  std::vector<double> Row(const PlanNode& node) const;

  std::map<PlanNodeId, Seconds> measured_;
  std::vector<Feature> features_;
  std::vector<double> weights_;  // intercept, then one a feature; empty: nothing measured
  Seconds least_{0};             // measured
};

}  // namespace espalier
