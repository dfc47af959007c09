// A data set for classification, in memory. Constant once made; any thread may read it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace espalier::trainer {

struct LabeledSamples {
  at::Tensor features;  // float32, one sample a row
  at::Tensor labels;    // int64, one a sample, from 0
};

struct Classification {
  std::string name;
  LabeledSamples training;
  LabeledSamples validation;
  std::int64_t class_count = 0;
  // SHA-256 of what is trained on, and of what is evaluated on.
  std::string training_digest;
  std::string validation_digest;
};

// SHA-256 over features and labels.
std::string Sha256Of(const LabeledSamples& samples);

}  // namespace espalier::trainer
