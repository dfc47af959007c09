// The order in which samples are trained on: a function of (seed, epoch), the same on every machine and compiler, and a
// place in it. Batches may change their size at any time and never span an epoch's end; the last, smaller one is kept.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace espalier::trainer {

// A permutation of 0 .. sample_count - 1.
std::vector<std::int64_t> ShuffledSamples(std::int64_t sample_count, std::uint64_t seed, std::int64_t epoch);

class SampleOrder {
 public:
  // At the beginning of epoch 0. REQUIRES: sample_count >= 1.
  SampleOrder(std::int64_t sample_count, std::uint64_t seed);

  // The next samples of this epoch: `batch_size`, or as many as are left. The place moves behind them, to the beginning
  // of the next epoch after the last. Valid until the next call. REQUIRES: batch_size >= 1.
  std::span<const std::int64_t> Next(std::int64_t batch_size);

  // The place: counted from 0, position < sample_count.
  std::int64_t epoch() const { return epoch_; }
  std::int64_t position() const { return position_; }

  // Goes to a place. Returns false, and stays, if there is no such place.
  bool GoTo(std::int64_t epoch, std::int64_t position);

 private:
  std::uint64_t seed_;
  std::int64_t epoch_ = 0;
  std::int64_t position_ = 0;
  std::vector<std::int64_t> order_;
  std::int64_t order_epoch_ = 0;  // which epoch order_ is of: the one before `epoch_` just after its last batch
};

}  // namespace espalier::trainer
