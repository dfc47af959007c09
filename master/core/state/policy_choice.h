// Which policy decides what is trained next: a stored setting of the service, which administrators change while it
// runs.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "scheduler/policy.h"

namespace espalier::master {

struct PolicyChoice {
  std::string name{kDefaultPolicy};  // one that there is (MakePolicy)
  std::string by;                    // the administrator; empty: nobody has chosen yet
  Time at{};
  friend bool operator==(const PolicyChoice&, const PolicyChoice&) = default;
};

// The name of a policy that there is, as it was given. Error: kInvalidArgument of the field `policy`.
Result<std::string> ParsePolicyName(std::string_view name);

}  // namespace espalier::master
