// A tuner whose trials are drawn as it starts them, by a sampler that learns from what was measured so far: the tuner
// decides how far trials go, the sampler what they are.
#pragma once

#include <memory>

#include "client/tuners/sampler.h"
#include "client/tuners/tuner.h"

namespace espalier::tuners {

// `drawn_count`: of the tuner's trials, the first so many are the sampler's; the others are as the tuner has them.
std::unique_ptr<Tuner> MakeLearning(std::unique_ptr<Tuner> tuner, std::unique_ptr<Sampler> sampler,
                                    std::size_t drawn_count);

}  // namespace espalier::tuners
