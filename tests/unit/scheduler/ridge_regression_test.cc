#include "scheduler/ridge_regression.h"

#include <catch2/catch.hpp>

#include "tests/unit/scheduler/fit_ridge.h"

namespace espalier {

TEST_CASE("regression has an answer for features that depend on each other") {
  const std::vector<double> weights = FitRidge({{{1, 2}, 1, 1}, {{2, 4}, 2, 1}, {{3, 6}, 3, 1}}, 1e-6);
  CHECK(Predict(weights, {4, 8}) == Approx(4).epsilon(0.001));
  CHECK(FitRidge({{{}, 5, 2}}, 1e-6) == std::vector<double>{5});
}

TEST_CASE("an observation of weight two counts as two observations") {
  const std::vector<double> once = FitRidge({{{1, 3}, 1, 2}, {{2, 1}, 7, 1}, {{3, 0}, 2, 1}, {{5, 1}, 3, 1}}, 1e-6);
  const std::vector<double> twice =
      FitRidge({{{1, 3}, 1, 1}, {{1, 3}, 1, 1}, {{2, 1}, 7, 1}, {{3, 0}, 2, 1}, {{5, 1}, 3, 1}}, 1e-6);
  for (std::size_t i = 0; i < 3; ++i) CHECK(once[i] == Approx(twice[i]));
}

}  // namespace espalier
