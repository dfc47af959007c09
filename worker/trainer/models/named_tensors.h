// Tensors of a network by name, in the network's own order.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace espalier::trainer {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

}  // namespace espalier::trainer
