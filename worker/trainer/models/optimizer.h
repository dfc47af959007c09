// LibTorch's SGD, Adam, AdamW or RMSProp over a network's parameters, whose settings may change at any update. Another
// kind starts with a fresh state. A momentum that begins later begins from nothing, as if it had been 0 until then; one
// that is 0 for a while finds what it left. The state is kept under the parameters' names. Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "worker/trainer/models/named_tensors.h"
#include "worker/trainer/models/optimizer_settings.h"
#include "worker/trainer/state.h"

namespace espalier::trainer {

class Optimizer {
 public:
  // REQUIRES: the settings are such as TakeOver lets through.
  Optimizer(NamedTensors parameters, const OptimizerSettings& settings);
  ~Optimizer();

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
  class Method;
  template <class LibrarysOptimizer, class Options, class ParameterState>
  class MethodOf;
  static std::unique_ptr<Method> MakeMethod(const std::string& kind, const NamedTensors& parameters);

  NamedTensors parameters_;
  std::string kind_;
  std::unique_ptr<Method> method_;
};

}  // namespace espalier::trainer
