// Trials drawn from a search space: trial i of a seed is always the same, however many are drawn. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/space/search_space.h"

namespace espalier {

enum class SamplingMethod {
  kRandom,  // every trial by itself
  kSobol,  // a Sobol sequence (S. Joe, F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections,
           // SIAM J. Sci. Comput. 30, 2008), shifted at random by the seed: even over the whole space
};
std::string_view Name(SamplingMethod method);
Result<SamplingMethod> ParseSamplingMethod(std::string_view name);

struct Sampling {
  std::size_t trials = 0;
  std::int64_t seed = 0;
  SamplingMethod method = SamplingMethod::kRandom;
};

// Ranges and lists of several that a Sobol sequence can do.
inline constexpr std::size_t kSobolDimensionsMax = 3667;

// How many numbers a trial takes: one for each list of several, one for each range in any of its items.
std::size_t DimensionCount(const SearchSpace& space);

// Each list gives one of its items, each range a value; conditions are applied.
// REQUIRES: ranges were checked; for kSobol, DimensionCount(space) <= kSobolDimensionsMax.
std::vector<tuners::TrialText> Sample(const SearchSpace& space, const Sampling& sampling);

}  // namespace espalier
