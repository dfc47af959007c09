#include "worker/trainer/data/draws.h"

#include <catch2/catch.hpp>
#include <set>

namespace espalier::trainer {

TEST_CASE("the chance of a sample is the same in every release") {
  Draws draws = DrawsOfSample({.seed = 1, .epoch = 2, .position = 3});
  CHECK(draws.Next() == 244085118737628998);
  CHECK(draws.NextBelow(1000) == 732);
  CHECK(draws.NextShare() == 0x1.cd579d66cfd98p-4);
}

TEST_CASE("no two samples of a training have the same chance, nor two trainings, nor a sample and the epoch's order") {
  std::set<std::uint64_t> seen;
  std::size_t count = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
      seen.insert(DrawsOfOrder(seed, epoch).Next());
      ++count;
      for (std::int64_t position = 0; position < 100; ++position) {
        seen.insert(DrawsOfSample({seed, epoch, position}).Next());
        ++count;
      }
    }
  }
  CHECK(seen.size() == count);
}

TEST_CASE("each number below a bound is equally likely from one sample to the next, and so is each share") {
  int counts[6] = {};
  int parts[4] = {};
  for (std::int64_t position = 0; position < 6000; ++position) {
    Draws draws = DrawsOfSample({1, 0, position});
    ++counts[draws.NextBelow(6)];
    const double share = draws.NextShare();
    CHECK((share >= 0 && share < 1));
    ++parts[static_cast<int>(share * 4)];
  }
  for (const int count : counts) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
  for (const int count : parts) CHECK(std::abs(count - 1500) < 170);
}

}  // namespace espalier::trainer
