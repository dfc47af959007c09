#include "searchplan/plan/measurement.h"

#include <catch2/catch.hpp>

namespace espalier {

TEST_CASE("measurements add up until one knows enough") {
  CHECK(Sum({2, 30}, {1, 5}) == Measurement{3, 35});
  CHECK(Sum({kMeasuredCountMax, 30}, {1, 5}) == Measurement{kMeasuredCountMax, 30});
  CHECK(Sum({2, kMeasuredTotalMax - 4}, {1, 5}) == Measurement{2, kMeasuredTotalMax - 4});
  CHECK(Mean({2, 5}) == 2.5);
}

TEST_CASE("kinds of cost are found by their names") {
  for (std::size_t i = 0; i < kCostKindCount; ++i) {
    const auto kind = static_cast<CostKind>(i);
    CHECK(ParseCostKind(Name(kind)) == kind);
  }
  CHECK_FALSE(ParseCostKind("set up").has_value());
}

}  // namespace espalier
