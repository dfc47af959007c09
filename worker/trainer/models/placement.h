// Where and how precisely this process trains networks. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "worker/trainer/models/named_tensors.h"

namespace espalier::trainer {

// The first CUDA device that this process sees, else the CPU.
at::Device TrainingDevice();

enum class Precision {
  kFloat32,
  kFloat64,
  kMixed,  // parameters in float32; products and convolutions in bfloat16, whose range needs no scaling of the loss
};

// "float32", "float64" or "mixed". Throws std::invalid_argument, naming the hyper-parameter `precision`, for others.
Precision ParsePrecision(const std::string& text);

// The type of parameters and inputs.
at::ScalarType ParameterType(Precision precision);

// Moves tensors, which keep their identity, to where they are trained; of those that are no whole numbers the type,
// too.
void Place(const NamedTensors& tensors, Precision precision);

// A copy there, or the same tensor if it is there already.
at::Tensor Placed(const at::Tensor& tensor, Precision precision);

// While it lives, what this thread computes is computed as kMixed says, if that is the precision.
class MixedPrecision {
 public:
  explicit MixedPrecision(Precision precision);
  ~MixedPrecision();
  MixedPrecision(const MixedPrecision&) = delete;
  MixedPrecision& operator=(const MixedPrecision&) = delete;

 private:
  const bool is_mixed_;
};

}  // namespace espalier::trainer
