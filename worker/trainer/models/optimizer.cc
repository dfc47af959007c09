#include "worker/trainer/models/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {
namespace {

using Tensors = std::vector<at::Tensor>;

const std::string kCountName = "count";

// The parameters that have gradients, these, and what is kept of them: lists of one length, since LibTorch computes on
// a list at once. On a GPU that takes one launch, not one for each tensor.
struct Moved {
  Tensors parameters;
  Tensors gradients;
  std::vector<std::vector<at::Tensor*>> kept;  // a list for each of the method's names
  std::vector<std::int64_t> updates;           // of each parameter, this one among them

  // Those of one name; zeros for a parameter of which there was none yet.
  Tensors Kept(std::size_t name) const {
    Tensors all;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      at::Tensor& each = *kept.at(name)[i];
      if (!each.defined()) each = at::zeros_like(parameters[i]);
      all.push_back(each);
    }
    return all;
  }
};

at::Tensor ToTensorLike(const State& state, const std::string& name, const at::Tensor& parameter) {
  at::Tensor tensor = ToTensor(At(state, name));
  if (tensor.sizes() != parameter.sizes() || tensor.scalar_type() != parameter.scalar_type()) {
    throw std::runtime_error("'" + name + "' in the state has another shape or type than its parameter");
  }
  return tensor.to(parameter.device());
}

// gradient + weight_decay * parameter
void AddDecay(Moved& moved, double weight_decay) {
  if (weight_decay != 0) moved.gradients = at::_foreach_add(moved.gradients, moved.parameters, weight_decay);
}

// mean = factor * mean + (1 - factor) * value, of the values' squares in the second.
void Average(const Tensors& means, const Tensors& values, double factor) {
  at::_foreach_mul_(means, factor);
  at::_foreach_add_(means, values, 1 - factor);
}
void AverageSquares(const Tensors& means, const Tensors& values, double factor) {
  at::_foreach_mul_(means, factor);
  at::_foreach_addcmul_(means, values, values, 1 - factor);
}

// Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013), with the learning rate
// outside the momentum, as PyTorch has it.
void MoveBySgd(Moved& moved, const OptimizerSettings& settings) {
  AddDecay(moved, settings.weight_decay);
  if (settings.momentum == 0) {
    at::_foreach_add_(moved.parameters, moved.gradients, -settings.learning_rate);
    return;
  }
  const Tensors momenta = moved.Kept(0);
  at::_foreach_mul_(momenta, settings.momentum);
  at::_foreach_add_(momenta, moved.gradients);
  const Tensors steps = settings.nesterov ? at::_foreach_add(moved.gradients, momenta, settings.momentum) : momenta;
  at::_foreach_add_(moved.parameters, steps, -settings.learning_rate);
}

// Both means begin at zero, and are divided by what that has left out.
void MoveAlongMeans(Moved& moved, const OptimizerSettings& settings) {
  const Tensors means = moved.Kept(0);
  const Tensors squares = moved.Kept(1);
  Average(means, moved.gradients, settings.beta1);
  AverageSquares(squares, moved.gradients, settings.beta2);
  std::vector<at::Scalar> lengths;
  std::vector<at::Scalar> roots;
  for (const std::int64_t updates : moved.updates) {
    const auto count = static_cast<double>(updates);
    lengths.emplace_back(-settings.learning_rate / (1 - std::pow(settings.beta1, count)));
    roots.emplace_back(std::sqrt(1 - std::pow(settings.beta2, count)));
  }
  const Tensors scales = at::_foreach_sqrt(squares);
  at::_foreach_div_(scales, roots);
  at::_foreach_add_(scales, settings.epsilon);
  at::_foreach_addcdiv_(moved.parameters, means, scales, lengths);
}

// Kingma and Ba, "Adam: a method for stochastic optimization" (2015), algorithm 1.
void MoveByAdam(Moved& moved, const OptimizerSettings& settings) {
  AddDecay(moved, settings.weight_decay);
  MoveAlongMeans(moved, settings);
}

// Loshchilov and Hutter, "Decoupled weight decay regularization" (2019), algorithm 2.
void MoveByAdamW(Moved& moved, const OptimizerSettings& settings) {
  at::_foreach_mul_(moved.parameters, 1 - settings.learning_rate * settings.weight_decay);
  MoveAlongMeans(moved, settings);
}

// Tieleman and Hinton, "Lecture 6.5 - RMSProp" (2012), with a momentum, as PyTorch has it.
void MoveByRmsProp(Moved& moved, const OptimizerSettings& settings) {
  AddDecay(moved, settings.weight_decay);
  const Tensors squares = moved.Kept(0);
  AverageSquares(squares, moved.gradients, settings.alpha);
  const Tensors scales = at::_foreach_sqrt(squares);
  at::_foreach_add_(scales, settings.epsilon);
  if (settings.momentum == 0) {
    at::_foreach_addcdiv_(moved.parameters, moved.gradients, scales, -settings.learning_rate);
    return;
  }
  const Tensors momenta = moved.Kept(1);
  at::_foreach_mul_(momenta, settings.momentum);
  at::_foreach_addcdiv_(momenta, moved.gradients, scales);
  at::_foreach_add_(moved.parameters, momenta, -settings.learning_rate);
}

}  // namespace

struct Optimizer::Method {
  std::vector<std::string> names;  // of what is kept of each parameter, tensors of its form
  bool counts_updates = false;
  void (*move)(Moved& moved, const OptimizerSettings& settings) = nullptr;

  static const Method& Of(const std::string& kind) {
    static const std::map<std::string, Method> methods{
        {"sgd", {{"momentum_buffer"}, false, MoveBySgd}},
        {"adam", {{"exp_avg", "exp_avg_sq"}, true, MoveByAdam}},
        {"adamw", {{"exp_avg", "exp_avg_sq"}, true, MoveByAdamW}},
        {"rmsprop", {{"square_avg", "momentum_buffer"}, false, MoveByRmsProp}},
    };
    return methods.at(kind);
  }
};

Optimizer::Optimizer(NamedTensors parameters, const OptimizerSettings& settings) : parameters_(std::move(parameters)) {
  Change(settings);
}

void Optimizer::Change(const OptimizerSettings& settings) {
  if (method_ == nullptr || settings.kind != settings_.kind) {
    method_ = &Method::Of(settings.kind);
    Forget();
  }
  settings_ = settings;
}

void Optimizer::Forget() { kept_.assign(parameters_.size(), {0, Tensors(method_->names.size())}); }

void Optimizer::ZeroGradients() {
  // Dropped, not filled with zeros: a gradient of -0.0 added to 0.0 is 0.0, so that bits would depend on whether the
  // process had trained before.
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

void Optimizer::Update() {
  const at::NoGradGuard no_gradients;
  Moved moved;
  moved.kept.resize(method_->names.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i].second;
    if (!parameter.grad().defined()) continue;
    moved.parameters.push_back(parameter);
    moved.gradients.push_back(parameter.grad());
    moved.updates.push_back(++kept_[i].updates);
    for (std::size_t name = 0; name < moved.kept.size(); ++name) moved.kept[name].push_back(&kept_[i].tensors[name]);
  }
  if (!moved.parameters.empty()) method_->move(moved, settings_);
}

void Optimizer::Save(const std::string& prefix, State& state) const {
  std::int64_t count = 0;
  const auto save = [&](const std::string& name, StateArray array) {
    state[prefix + name] = std::move(array);
    ++count;
  };
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::string& parameter = parameters_[i].first;
    if (method_->counts_updates && kept_[i].updates > 0) save("step." + parameter, WholeNumber(kept_[i].updates));
    for (std::size_t name = 0; name < method_->names.size(); ++name) {
      const at::Tensor& tensor = kept_[i].tensors[name];
      if (tensor.defined()) save(method_->names[name] + "." + parameter, ToArray(tensor));
    }
  }
  state[prefix + kCountName] = WholeNumber(count);
}

void Optimizer::Load(const State& state, const std::string& prefix) {
  Forget();
  std::int64_t count = 0;
  const auto holds = [&](const std::string& name) { return state.contains(prefix + name) && ++count > 0; };
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [parameter, value] = parameters_[i];
    const std::string step = "step." + parameter;
    if (method_->counts_updates && holds(step)) kept_[i].updates = ReadWholeNumber(state, prefix + step);
    for (std::size_t name = 0; name < method_->names.size(); ++name) {
      const std::string array = method_->names[name] + "." + parameter;
      if (holds(array)) kept_[i].tensors[name] = ToTensorLike(state, prefix + array, value);
    }
  }
  if (count != ReadWholeNumber(state, prefix + kCountName)) {
    throw std::runtime_error("the state of the optimizer is not whole");
  }
}

}  // namespace espalier::trainer
