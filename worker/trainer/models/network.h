// A network that Classifier trains: named tensors, and a function of inputs. Its modules are in training mode from the
// beginning, but for those that are to stay in evaluation mode. Not thread-safe.
#pragma once

#include <torch/nn/module.h>

#include <functional>

#include "worker/trainer/models/named_tensors.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer {

class Network {
 public:
  virtual ~Network() = default;

  // Logits, with the classes as last dimension. Inputs: one sample a row.
  virtual at::Tensor Forward(const at::Tensor& inputs) = 0;

  // What is made smaller, a mean over the labels: cross entropy, unless a network has another. `logits`: a row for each
  // label.
  virtual at::Tensor Loss(const at::Tensor& logits, const at::Tensor& labels);

  // New values of its own sequences. Throws std::invalid_argument, naming the hyper-parameter, for what cannot be.
  virtual void Setup(const HyperParameterValues& changed_values) = 0;

  virtual NamedTensors Parameters() const = 0;  // what is trained
  virtual NamedTensors Buffers() const = 0;     // what else the next steps depend on: running means, say

  // Calls `body` with all modules in evaluation mode, and puts each back into its own, also if `body` throws.
  virtual void Evaluating(const std::function<void()>& body) = 0;
};

// One made of LibTorch's modules.
class ModuleNetwork : public torch::nn::Module, public Network {
 public:
  void Setup(const HyperParameterValues&) override {}
  NamedTensors Parameters() const override;
  NamedTensors Buffers() const override;
  void Evaluating(const std::function<void()>& body) override;
};

}  // namespace espalier::trainer
