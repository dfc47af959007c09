// How simulated trainings share a GPU.
#include "sim/shared_gpu.h"

#include <catch2/catch.hpp>
#include <vector>

namespace espalier::sim {

TEST_CASE("trainings keep a GPU busy whenever any of them would") {
  CHECK(BusyTogether(std::vector{0.3, 0.3, 0.4}) == Approx(0.706));
  CHECK(BusyTogether(std::vector{0.5, 0.5}) == Approx(0.75));
  CHECK(BusyTogether(std::vector<double>{}) == 0);
  CHECK(BusyTogether(std::vector(8, 0.35)) / (8 * 0.35) == Approx(0.3458).epsilon(1e-3));
}

TEST_CASE("each gets its part of that, less what changing between them costs") {
  CHECK(SpeedTogether(std::vector{0.35}) == Approx(1));
  CHECK(8 * SpeedTogether(std::vector(8, 0.35)) == Approx(2.57).epsilon(1e-3));
}

}  // namespace espalier::sim
