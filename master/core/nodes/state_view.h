// The state as a policy is shown it.
#pragma once

#include <memory>

#include "master/core/draft.h"
#include "scheduler/view.h"

namespace espalier::master {

// REQUIRES: the draft outlives it.
std::unique_ptr<View> StateViewOf(const Draft& draft);

}  // namespace espalier::master
