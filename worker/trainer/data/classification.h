// A data set of samples with a class each, in memory. Constant once made; any thread may read it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace espalier::trainer {

struct LabeledSamples {
  at::Tensor inputs;  // one sample a row, in the type in which it was stored: uint8 or float32
  at::Tensor labels;  // int64, one a sample, from 0
};

struct Classification {
  LabeledSamples training;
  LabeledSamples validation;
  std::int64_t class_count = 0;
  // A network is given (input - offset) * factor: float32, of a shape that extends to an input's.
  at::Tensor offset;
  at::Tensor factor;
};

}  // namespace espalier::trainer
