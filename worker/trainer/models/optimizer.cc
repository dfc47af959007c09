#include "worker/trainer/models/optimizer.h"

#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "base/check.h"
#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {
namespace {

using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamParamState;
using torch::optim::SGD;
using torch::optim::SGDOptions;
using torch::optim::SGDParamState;

// LibTorch 1.13 finds a parameter's state by its address as text, 2.x by its address.
template <class Key>
Key KeyOf(const at::Tensor& parameter) {
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;
    text << parameter.unsafeGetTensorImpl();
    return text.str();
  } else {
    return parameter.unsafeGetTensorImpl();
  }
}

using StateMap = std::remove_reference_t<decltype(std::declval<torch::optim::Optimizer&>().state())>;

// Null if the parameter was not updated yet.
template <class ParameterState>
ParameterState* Find(StateMap& states, const at::Tensor& parameter) {
  const auto it = states.find(KeyOf<StateMap::key_type>(parameter));
  return it == states.end() ? nullptr : &static_cast<ParameterState&>(*it->second);
}

at::Tensor ToTensorLike(const State& state, const std::string& name, const at::Tensor& parameter) {
  at::Tensor tensor = ToTensor(At(state, name));
  if (tensor.sizes() != parameter.sizes() || tensor.scalar_type() != parameter.scalar_type()) {
    throw std::runtime_error("'" + name + "' in the state has another shape or type than its parameter");
  }
  return tensor.to(parameter.device());
}

}  // namespace

Optimizer::Optimizer(const torch::nn::Module& module, const OptimizerSettings& settings) {
  for (const auto& parameter : module.named_parameters()) parameters_.emplace_back(parameter.key(), parameter.value());
  Change(settings);
}

void Optimizer::Change(const OptimizerSettings& settings) {
  ESPALIER_CHECK(settings.kind == "sgd" || settings.kind == "adam") << settings.kind;
  if (settings.kind != kind_) {
    std::vector<at::Tensor> tensors;
    for (const auto& [name, parameter] : parameters_) tensors.push_back(parameter);
    kind_ = settings.kind;
    if (kind_ == "sgd") {
      optimizer_ = std::make_unique<SGD>(std::move(tensors), SGDOptions(settings.learning_rate));
    } else {
      optimizer_ = std::make_unique<Adam>(std::move(tensors), AdamOptions(settings.learning_rate));
    }
  }
  torch::optim::OptimizerOptions& options = optimizer_->param_groups().front().options();
  if (kind_ == "sgd") {
    auto& sgd = static_cast<SGDOptions&>(options);
    sgd.lr(settings.learning_rate).momentum(settings.momentum).weight_decay(settings.weight_decay);
  } else {
    static_cast<AdamOptions&>(options).lr(settings.learning_rate).weight_decay(settings.weight_decay);
  }
}

void Optimizer::ZeroGradients() {
  // Dropped, not filled with zeros: a gradient of -0.0 added to 0.0 is 0.0, so that bits would depend on whether the
  // process had trained before.
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

void Optimizer::Update() { optimizer_->step(); }

void Optimizer::Save(const std::string& prefix, State& state) const {
  for (const auto& [name, parameter] : parameters_) {
    if (kind_ == "sgd") {
      const auto* sgd = Find<SGDParamState>(optimizer_->state(), parameter);
      if (sgd != nullptr) state[prefix + "momentum_buffer." + name] = ToArray(sgd->momentum_buffer());
    } else if (const auto* adam = Find<AdamParamState>(optimizer_->state(), parameter)) {
      state[prefix + "step." + name] = WholeNumber(adam->step());
      state[prefix + "exp_avg." + name] = ToArray(adam->exp_avg());
      state[prefix + "exp_avg_sq." + name] = ToArray(adam->exp_avg_sq());
    }
  }
}

void Optimizer::Load(const State& state, const std::string& prefix) {
  StateMap states;
  const std::string first_value = prefix + (kind_ == "sgd" ? "momentum_buffer." : "step.");
  for (const auto& [name, parameter] : parameters_) {
    if (!state.contains(first_value + name)) continue;  // not updated yet
    if (kind_ == "sgd") {
      auto sgd = std::make_unique<SGDParamState>();
      sgd->momentum_buffer(ToTensorLike(state, prefix + "momentum_buffer." + name, parameter));
      states[KeyOf<StateMap::key_type>(parameter)] = std::move(sgd);
    } else {
      auto adam = std::make_unique<AdamParamState>();
      adam->step(ReadWholeNumber(state, prefix + "step." + name));
      adam->exp_avg(ToTensorLike(state, prefix + "exp_avg." + name, parameter));
      adam->exp_avg_sq(ToTensorLike(state, prefix + "exp_avg_sq." + name, parameter));
      states[KeyOf<StateMap::key_type>(parameter)] = std::move(adam);
    }
  }
  if (!states.empty() && states.size() != parameters_.size()) {
    throw std::runtime_error("the state holds an optimizer's state of some parameters only");
  }
  optimizer_->state() = std::move(states);
}

}  // namespace espalier::trainer
