// What an evaluation may tell besides accuracy and loss: a number for each label, of which the mean is taken.
#pragma once

#include <string>

namespace at {
class Tensor;
}

namespace espalier::trainer {

struct LabelMetric {
  std::string name;
  // Its sum over the labels. `logits`: a row for each label.
  double (*sum)(const at::Tensor& logits, const at::Tensor& labels) = nullptr;
};

}  // namespace espalier::trainer
