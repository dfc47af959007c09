// How fast a training still converges (scheduler/convergence.h).
#include "scheduler/convergence.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace espalier {
namespace {

Convergence AfterAll(const std::vector<std::vector<double>>& slices) {
  std::optional<Convergence> convergence;
  for (const std::vector<double>& losses : slices) {
    SliceLosses slice;
    for (const double loss : losses) slice.Add(loss);
    convergence = After(convergence, slice);
  }
  return *convergence;
}

}  // namespace

TEST_CASE("the first slice counts by the span of its losses, and a rising loss as negative") {
  const Convergence falling = AfterAll({{2.0, 1.6, 1.4, 1.2}});
  CHECK(falling.loss == Approx(1.6));
  CHECK(falling.rate == Approx(0.2));
  CHECK(falling.first_loss == Approx(1.6));
  CHECK(AfterAll({{1.0, 1.5, 2.0}}).rate == Approx(-1.0 / 3));
}

TEST_CASE("a further slice counts by how much the middle of its losses fell, for each of them") {
  const Convergence second = AfterAll({{2.0, 1.6, 1.4, 1.2}, {1.2, 1.1, 0.9}});
  CHECK(second.loss == Approx(1.05));
  CHECK(second.rate == Approx(0.183333).epsilon(1e-5));
  CHECK(AfterAll({{2.0, 1.6, 1.4, 1.2}, {1.2, 1.1, 0.9}, {1.3, 1.0}}).rate == Approx(-0.05));
}

TEST_CASE("milestones are passed at a half, a quarter and an eighth of the first loss, and never given back") {
  CHECK(AfterAll({{4, 4}, {2.01, 2.01}}).milestones == 0);
  CHECK(AfterAll({{4, 4}, {2, 2}}).milestones == 1);
  CHECK(AfterAll({{4, 4}, {0.9, 0.9}}).milestones == 2);
  CHECK(AfterAll({{4, 4}, {0.1, 0.1}}).milestones == 3);
  CHECK(AfterAll({{4, 4}, {1, 1}, {3, 3}}).milestones == 2);
  CHECK(AfterAll({{-1, -1}, {-2, -2}}).milestones == 0);
}

TEST_CASE("of a training that has diverged nothing is hoped for any more") {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double loss : {std::numeric_limits<double>::quiet_NaN(), kInfinite, 2e6, -2e6}) {
    CHECK(AfterAll({{1, loss, 0.5}}).rate == -kInfinite);
    CHECK(AfterAll({{1, 0.9}, {0.8, loss}}).rate == -kInfinite);
    CHECK(AfterAll({{1, 0.9}, {0.8, loss}, {0.7, 0.6}}).rate == -kInfinite);
  }
}

}  // namespace espalier
