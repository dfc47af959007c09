// A baseline of TreeML's 6.3: stages in breadth-first order, whatever they take.
#pragma once

#include "scheduler/policy.h"

namespace espalier {

// Starts ready stages by the step where they begin; ties by tree, then stage. Each goes on through its first child,
// that child's first child and so on as one run, so that what is compared with the other policies is the order alone.
class BreadthFirstPolicy : public Policy {
 public:
  std::string_view name() const override { return "breadth_first"; }
  std::vector<Action> Decide(const View& view, Time now) const override;
};

}  // namespace espalier
