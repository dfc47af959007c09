// What a claim comes to.
#pragma once

#include "base/study_event.h"

namespace espalier {

using Evaluation = ClaimSettled;

}  // namespace espalier
