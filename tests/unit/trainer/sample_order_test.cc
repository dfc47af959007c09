#include "worker/trainer/data/sample_order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace espalier::trainer {

TEST_CASE("the order of samples is a permutation, the same in every release, another in every epoch and seed") {
  std::set<std::vector<std::int64_t>> orders;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
      std::vector<std::int64_t> order = ShuffledSamples(100, seed, epoch);
      orders.insert(order);
      std::ranges::sort(order);
      for (std::int64_t i = 0; i < 100; ++i) REQUIRE(order[static_cast<std::size_t>(i)] == i);
    }
  }
  CHECK(orders.size() == 100);
  CHECK(ShuffledSamples(1, 3, 4) == std::vector<std::int64_t>{0});
  CHECK(ShuffledSamples(8, 1, 0) == std::vector<std::int64_t>{4, 2, 0, 5, 6, 1, 7, 3});
}

TEST_CASE("each sample is equally likely at each place") {
  constexpr int kEpochCount = 6000;
  int counts[6][6] = {};
  for (int epoch = 0; epoch < kEpochCount; ++epoch) {
    const auto order = ShuffledSamples(6, 1, epoch);
    for (std::size_t place = 0; place < 6; ++place) ++counts[place][order[place]];
  }
  for (const auto& place : counts) {
    for (const int count : place) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
  }
}

TEST_CASE("batches of any size keep the order, and none spans an epoch's end") {
  SampleOrder order(10, 1);
  const auto first = ShuffledSamples(10, 1, 0);
  const auto second = ShuffledSamples(10, 1, 1);
  std::vector<std::int64_t> seen;
  std::vector<std::size_t> sizes;
  for (const std::int64_t batch_size : {4, 3, 5, 5, 20}) {
    const auto batch = order.Next(batch_size);
    sizes.push_back(batch.size());
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  CHECK(sizes == std::vector<std::size_t>{4, 3, 3, 5, 5});
  CHECK(std::equal(first.begin(), first.end(), seen.begin()));
  CHECK(std::equal(second.begin(), second.end(), seen.begin() + 10));
  CHECK(order.epoch() == 2);
  CHECK(order.position() == 0);

  SampleOrder other(10, 1);
  REQUIRE(other.GoTo(1, 5));
  const auto batch = other.Next(5);
  CHECK(std::equal(batch.begin(), batch.end(), second.begin() + 5));
  CHECK_FALSE(other.GoTo(0, 10));
  CHECK_FALSE(other.GoTo(-1, 0));
}

}  // namespace espalier::trainer
