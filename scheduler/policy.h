// The plug-in interface of scheduling policies. A policy is a function of what it is shown: no clock, I/O or
// randomness.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scheduler/action.h"
#include "scheduler/view.h"

namespace espalier {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0;
  // At most one StartRun for each idle slot, and for each stage.
  virtual std::vector<Action> Decide(const View& view, Time now) const = 0;
};

// "critical_path" (TreeML 4.3), "breadth_first" or "throughput" (TreeML 6.3). Error: kInvalidArgument, listing them.
Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name);

}  // namespace espalier
