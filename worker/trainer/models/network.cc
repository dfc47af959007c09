#include "worker/trainer/models/network.h"

#include <torch/nn/functional/loss.h>

#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {
namespace {

template <class Items>
NamedTensors ToNamedTensors(const Items& items) {
  NamedTensors tensors;
  for (const auto& item : items) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

}  // namespace

at::Tensor Network::Loss(const at::Tensor& logits, const at::Tensor& labels) {
  return torch::nn::functional::cross_entropy(logits, labels);
}

NamedTensors ModuleNetwork::Parameters() const { return ToNamedTensors(named_parameters()); }

NamedTensors ModuleNetwork::Buffers() const { return ToNamedTensors(named_buffers()); }

void ModuleNetwork::Evaluating(const std::function<void()>& body) {
  const EvaluationMode mode(*this);
  body();
}

}  // namespace espalier::trainer
