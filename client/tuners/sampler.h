// What draws trials one after the other, and learns from what became of those before. Pure: what it draws is a function
// of its seed and of what it was told, in this order.
#pragma once

#include <cstddef>

#include "client/space/trial_text.h"
#include "client/tuners/tuner.h"

namespace espalier::tuners {

class Sampler {
 public:
  virtual ~Sampler() = default;

  // The next trial; the first is number 0.
  virtual TrialText Draw() = 0;

  // How a claim of one that was drawn was settled.
  virtual void Learn(const ClaimOutcome& outcome) = 0;
};

}  // namespace espalier::tuners
