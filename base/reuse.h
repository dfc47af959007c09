// Whose states the trials of a study begin with.
#pragma once

#include <optional>

#include "base/ids.h"
#include "base/units.h"

namespace espalier {

// Trials begin with the deepest state that the code of another study left on their path, instead of at Init.
struct Reuse {
  StudyId study;
  std::optional<Step> until = {};  // with none behind this step
  friend bool operator==(const Reuse&, const Reuse&) = default;
};

}  // namespace espalier
