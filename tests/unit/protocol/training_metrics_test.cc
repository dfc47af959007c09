// Which steps of a training keep what they returned.
#include "protocol/training_metrics.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

std::int64_t CountUpTo(std::int64_t last, std::int64_t first = 1) {
  std::int64_t count = 0;
  for (std::int64_t step = first; step <= last; ++step) count += IsInSeries(Step{step}) ? 1 : 0;
  return count;
}

TEST_CASE("a training of a thousand steps keeps what every step returned") { CHECK(CountUpTo(1024) == 1024); }

TEST_CASE("beyond, as many steps are kept from each step to its double, evenly spaced") {
  CHECK(CountUpTo(2048, 1025) == 512);
  CHECK(CountUpTo(4096, 2049) == 512);
  CHECK(CountUpTo(1 << 20) == 1024 + 10 * 512);
  CHECK_FALSE(IsInSeries(Step{1025}));
  CHECK(IsInSeries(Step{1026}));
  CHECK(IsInSeries(Step{2048}));
  CHECK_FALSE(IsInSeries(Step{2050}));
  CHECK(IsInSeries(Step{2052}));
}

TEST_CASE("the longest training that there may be keeps its last step") { CHECK(IsInSeries(kStepMax)); }

}  // namespace
}  // namespace espalier
