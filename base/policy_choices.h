// What a study tells the service's policy to go by.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/units.h"

namespace espalier {

// Policies that know nothing of one of them go on without.
struct PolicyChoices {
  bool may_stop = false;                       // they may release its trials by their metrics
  std::optional<Seconds> deadline = {};        // since it was created: by when its best result counts
  std::int64_t min_steps = 0;                  // that each trial trains before its metrics are compared; 0: any
  std::map<std::int64_t, double> speeds = {};  // on so many slots of a device together, against one
  friend bool operator==(const PolicyChoices&, const PolicyChoices&) = default;
};

}  // namespace espalier
