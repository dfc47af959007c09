// Search spaces of the functions that the thesis takes its own from (TreeML, table 6.1), drawn by a seed.
#pragma once

#include <cstdint>
#include <string>

namespace espalier::bench {

// The text of a study file: between 12 and 336 trials of at most 120 steps over learning rate, batch size, momentum and
// weight decay. `tuner`: as in a study file, "{grid: {steps: 120}}". The same seed, the same space on every machine.
std::string SpaceOfFunctions(std::uint64_t seed, const std::string& tuner);

}  // namespace espalier::bench
