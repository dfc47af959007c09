// When a study ends though its tuner is not done.
#pragma once

#include <optional>

#include "base/units.h"

namespace espalier {

// It ends at the first of these; none: when its tuner is done.
struct StopRule {
  std::optional<Seconds> after;        // since it was created
  std::optional<Seconds> device_time;  // charged to it: its part of what devices spend on it
  std::optional<double> metric;        // some trial's, at least as good by the study's goal
  friend bool operator==(const StopRule&, const StopRule&) = default;
};

inline bool IsTimed(const StopRule& rule) { return rule.after || rule.device_time; }

}  // namespace espalier
