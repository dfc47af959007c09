// The user of one study who leaves it to a tuner: what the study's events say goes in, calls come out, by the driver
// that real users have. Pure; one thread.
#pragma once

#include <optional>

#include "client/tuners/driver.h"
#include "master/core/event.h"

namespace espalier::sim {

// The driver's next batch as a call, without study, and so are the others. None: nothing follows from what it has seen
// yet.
std::optional<master::SubmitBatch> NextCall(tuners::Driver& driver);

}  // namespace espalier::sim
