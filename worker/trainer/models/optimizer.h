// LibTorch's SGD or Adam over a module's parameters, whose settings may change at any update. Another kind starts with
// a fresh state. Its state is kept under the parameters' names. Not thread-safe.
#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/state.h"

namespace espalier::trainer {

struct OptimizerSettings {
  std::string kind = "sgd";  // "sgd" or "adam"
  double learning_rate = 0.1;
  double momentum = 0;  // of SGD; Adam keeps its own
  double weight_decay = 0;
};

class Optimizer {
 public:
  // The module must live as long. REQUIRES: kind is one of the above; learning rate, momentum and weight decay >= 0.
  Optimizer(const torch::nn::Module& module, const OptimizerSettings& settings);

  // Same requirements.
  void Change(const OptimizerSettings& settings);

  // Forgets the gradients; moves the parameters along them.
  void ZeroGradients();
  void Update();

  // As prefix + kind of value + "." + parameter's name. Loading replaces all state; it throws std::runtime_error if
  // some parameters have a state and others have none, or if one is of another form.
  void Save(const std::string& prefix, State& state) const;
  void Load(const State& state, const std::string& prefix);

 private:
  std::vector<std::pair<std::string, at::Tensor>> parameters_;
  std::string kind_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

}  // namespace espalier::trainer
