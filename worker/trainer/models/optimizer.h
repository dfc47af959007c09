// SGD, Adam, AdamW or RMSProp over a network's parameters, as PyTorch has them, whose settings may change at any
// update. (LibTorch's own take four launches on a GPU for each parameter; here it is that many for all of them.)
// Another kind starts with a fresh state. A momentum that begins later begins from nothing, as if it had been 0 until
// then; one that is 0 for a while finds what it left. The state is kept under the parameters' names. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/trainer/models/named_tensors.h"
#include "worker/trainer/models/optimizer_settings.h"
#include "worker/trainer/state.h"

namespace espalier::trainer {

class Optimizer {
 public:
  // REQUIRES: the settings are such as TakeOver lets through.
  Optimizer(NamedTensors parameters, const OptimizerSettings& settings);

  // Same requirement.
  void Change(const OptimizerSettings& settings);

  // Forgets the gradients; moves the parameters along them. A parameter without a gradient stays.
  void ZeroGradients();
  void Update();

  // As prefix + kind of value + "." + parameter's name, and their count. Loading replaces all state; it throws
  // std::runtime_error if an array is missing or of another form.
  void Save(const std::string& prefix, State& state) const;
  void Load(const State& state, const std::string& prefix);

 private:
  struct Method;
  struct Kept {  // of one parameter
    std::int64_t updates = 0;
    std::vector<at::Tensor> tensors;  // one for each of the method's names; undefined until it is first needed
  };
  void Forget();

  NamedTensors parameters_;
  OptimizerSettings settings_;
  const Method* method_ = nullptr;
  std::vector<Kept> kept_;  // of each parameter
};

}  // namespace espalier::trainer
