// Early partings: sequences that begin alike, and early on rise or fall from one value in different ways, such as
// warm-ups to different peaks and cosines over different horizons. They share next to nothing, though written another
// way they would; hints say how.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "searchplan/sequence/sequence.h"

namespace espalier {

// A parting is early while at most one of so many parts of a sequence lies before it.
inline constexpr std::int64_t kEarlyParts = 5;

struct EarlyParting {
  Step at;
  bool rises = false;                  // else they fall
  std::vector<std::size_t> sequences;  // indices into what was searched, at least two, in order; all alike before `at`
  friend bool operator==(const EarlyParting&, const EarlyParting&) = default;
};

// Among sequences of one hyper-parameter; those that do not float have none. In order of the step, then of the
// sequences. O(segments log segments).
std::vector<EarlyParting> FindEarlyPartings(const std::vector<Sequence>& sequences);

// What they do, and which change would let them share: "part at step 0: they rise ..."
std::string Describe(const EarlyParting& parting);

}  // namespace espalier
