// The user of one study who leaves it to a tuner: what the study's events say goes in, calls come out, by the driver
// that real users have. Pure; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/tuners/driver.h"
#include "master/core/event.h"

namespace espalier::sim {

// One batch of a tuner, as calls one after the other: several where a master does not take it at once (CutBatch).
struct TunerCalls {
  std::vector<Batch> parts;  // empty: nothing follows from what the driver has seen yet
  std::int64_t number = 0;   // the batch's

  std::string RequestId(std::size_t part) const;
  // Without study.
  master::SubmitBatch CallOf(std::size_t part) const;
};

TunerCalls NextCalls(tuners::Driver& driver);

}  // namespace espalier::sim
