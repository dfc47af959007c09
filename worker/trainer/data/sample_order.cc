#include "worker/trainer/data/sample_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "worker/trainer/data/draws.h"

namespace espalier::trainer {
std::vector<std::int64_t> ShuffledSamples(std::int64_t sample_count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(sample_count));
  std::iota(order.begin(), order.end(), 0);
  Draws draws = DrawsOfOrder(seed, epoch);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[static_cast<std::size_t>(draws.NextBelow(left))]);
  }
  return order;
}

SampleOrder::SampleOrder(std::int64_t sample_count, std::uint64_t seed)
    : seed_(seed), order_(ShuffledSamples(sample_count, seed, 0)) {
  ESPALIER_CHECK(sample_count >= 1);
}

std::span<const std::int64_t> SampleOrder::Next(std::int64_t batch_size) {
  ESPALIER_CHECK(batch_size >= 1);
  const auto sample_count = static_cast<std::int64_t>(order_.size());
  if (order_epoch_ != epoch_) {
    order_ = ShuffledSamples(sample_count, seed_, epoch_);
    order_epoch_ = epoch_;
  }
  const std::int64_t count = std::min(batch_size, sample_count - position_);
  const std::span<const std::int64_t> batch(order_.data() + position_, static_cast<std::size_t>(count));
  position_ += count;
  if (position_ == sample_count) {
    position_ = 0;
    ++epoch_;
  }
  return batch;
}

bool SampleOrder::GoTo(std::int64_t epoch, std::int64_t position) {
  if (epoch < 0 || position < 0 || position >= static_cast<std::int64_t>(order_.size())) return false;
  epoch_ = epoch;
  position_ = position;
  return true;
}

}  // namespace espalier::trainer
