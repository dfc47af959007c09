// The one place that reads clocks. Pure folders must not include it: they are given `now`.
#pragma once

#include "base/units.h"

namespace espalier {

// The wall clock, in microseconds.
Time Now();

// Seconds since an arbitrary moment; never goes back. For durations.
Seconds MonotonicNow();

// The same, and runs on while the machine sleeps. For what others count meanwhile.
Seconds BootTimeNow();

// Of a processor, by the calling thread so far.
Seconds ThreadTime();

}  // namespace espalier
