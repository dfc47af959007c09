// TreeML's policy (4.3): the longest remaining path of all trees first.
#pragma once

#include "scheduler/policy.h"

namespace espalier {

// Starts the paths of the longest-path decomposition that are ready, longest first; ties by tree, then first stage.
class CriticalPathPolicy : public Policy {
 public:
  std::string_view name() const override { return "critical_path"; }
  std::vector<Action> Decide(const View& view, Time now) const override;
};

}  // namespace espalier
