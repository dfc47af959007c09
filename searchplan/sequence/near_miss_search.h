// Finds the near misses among many sequences without comparing every pair.
#pragma once

#include <cstddef>
#include <vector>

#include "searchplan/sequence/near_miss.h"

namespace espalier {

struct NearPair {
  std::size_t a = 0;  // indices into what was searched, a < b
  std::size_t b = 0;
  NearMiss near_miss;
  friend bool operator==(const NearPair&, const NearPair&) = default;
};

// Near misses among sequences of one hyper-parameter, in order of their indices. Of n sequences that all nearly meet, n
// - 1 pairs are named, which join them all. Where sequences part, their values are sorted and only neighbours compared:
// about n log n work as long as the sequences really differ.
std::vector<NearPair> FindNearMisses(const std::vector<Sequence>& sequences);

}  // namespace espalier
