// How patient a client is.
#pragma once

#include "base/units.h"

namespace espalier {

// Whatever is tried again is safe to try again: every mutation is keyed by its request id.
struct RetryPolicy {
  Seconds first_connection_patience{3};
  Seconds call_patience = Seconds::max();     // how long one call is tried again, and lost events waited for
  Seconds attempt_deadline = Seconds::max();  // an attempt that takes longer counts as kUnavailable
  Seconds first_pause{0.05};                  // doubled after each attempt
  Seconds longest_pause{2};
};

}  // namespace espalier
