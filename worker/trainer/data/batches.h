// Where a training's batches come from, and what it is evaluated on: data with an order, and a place in it. A batch
// follows from the seed, the place, its size and what Setup has said, and from nothing else.
// Not thread-safe, but that what does not regard the place (form, Validate) may be called beside Next.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "worker/trainer/state.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer {

struct Batch {
  at::Tensor inputs;  // one sample a row, as a network takes them
  at::Tensor labels;  // int64: the class of each sample, or of each place of each sample
};

// What a network must fit.
struct Form {
  std::vector<std::int64_t> input_shape;  // of one sample; of text, whose length may change: empty
  std::int64_t class_count = 0;
  std::int64_t token_count = 0;  // of text: its inputs are 0 to token_count - 1
  bool labels_places = false;    // each place has a label, which only places up to it may tell
};

class Batches {
 public:
  virtual ~Batches() = default;
  virtual Form form() const = 0;

  // New values of the data's own hyper-parameters. Throws std::invalid_argument, naming the one that cannot be.
  virtual void Setup(const HyperParameterValues& changed_values) = 0;

  // The next of this epoch: `size` samples, or as many as are left. The place moves behind them, to the beginning of
  // the next epoch after the last. Draws from no generator of LibTorch's, and has none of its threads compute: others
  // train meanwhile (prefetch.h). REQUIRES: size >= 1.
  virtual Batch Next(std::int64_t size) = 0;
  // Counted from 0.
  virtual std::int64_t epoch() const = 0;

  // Calls `take` with all that is evaluated on, in batches.
  virtual void Validate(const std::function<void(const Batch&)>& take) const = 0;

  // The place, under names that begin with `prefix`. Loading throws std::runtime_error if it is no place in this data.
  virtual void Save(const std::string& prefix, State& state) const = 0;
  virtual void Load(const State& state, const std::string& prefix) = 0;
};

}  // namespace espalier::trainer
