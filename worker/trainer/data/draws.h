// The chance in data: numbers that follow from a seed alone, the same on every machine and compiler (the standard
// library's distributions differ by platform). No state of a training holds any of it.
#pragma once

#include <cstdint>

namespace espalier::trainer {

// SplitMix64: a counter, and a function that scatters its bits. Not thread-safe.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : counter_(seed) {}

  std::uint64_t Next();
  // Every value below `bound` is equally likely. REQUIRES: bound >= 1.
  std::uint64_t NextBelow(std::uint64_t bound);
  // At least 0 and below 1.
  double NextShare();

 private:
  std::uint64_t counter_;
};

// Where a sample comes in a training.
struct SamplePlace {
  std::uint64_t seed = 0;  // of the training
  std::int64_t epoch = 0;
  std::int64_t position = 0;  // in the epoch's order
};

// Of the order of an epoch's samples.
Draws DrawsOfOrder(std::uint64_t seed, std::int64_t epoch);

// What is random about the sample at that place, whatever was trained before it and in batches of whatever size.
Draws DrawsOfSample(const SamplePlace& place);

}  // namespace espalier::trainer
