// A baseline of TreeML's 6.3 ("THR"): what most other stages wait for comes first.
#pragma once

#include "scheduler/policy.h"

namespace espalier {

// Starts ready stages by how many stages hang below them, then by how many trials need them; ties by tree, then stage.
// Each goes on, as one run, through the child that ranks first by the same measure.
class ThroughputPolicy : public Policy {
 public:
  std::string_view name() const override { return "throughput"; }
  std::vector<Action> Decide(const View& view, Time now) const override;
};

}  // namespace espalier
