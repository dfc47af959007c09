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
  kTpe,    // by what is known of the trials before (client/tuners/tpe_sampler.h); until something is, as kRandom
};
std::string_view Name(SamplingMethod method);
Result<SamplingMethod> ParseSamplingMethod(std::string_view name);

// As many are drawn at most of a study that goes on until its stop rule ends it.
inline constexpr std::size_t kTrialsUntilStopped = 10'000;

struct Sampling {
  std::size_t trials = 0;
  bool until_stopped = false;  // nobody said how many: kTrialsUntilStopped
  std::int64_t seed = 0;
  SamplingMethod method = SamplingMethod::kRandom;
};

// Ranges and lists of several that a Sobol sequence can do.
inline constexpr std::size_t kSobolDimensionsMax = 3667;

// Before any of them was trained. REQUIRES: ranges were checked; for kSobol, there are at most kSobolDimensionsMax
// dimensions (client/space/drawing.h).
std::vector<TrialText> Sample(const SearchSpace& space, const Sampling& sampling);

}  // namespace espalier
