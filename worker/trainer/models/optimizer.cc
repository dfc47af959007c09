#include "worker/trainer/models/optimizer.h"

#include <ATen/ops/zeros_like.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "base/check.h"
#include "worker/trainer/models/tensor_state.h"

namespace espalier::trainer {
namespace {

namespace optim = torch::optim;

using StateMap = std::remove_reference_t<decltype(std::declval<optim::Optimizer&>().state())>;

const std::string kCountName = "count";

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

at::Tensor ToTensorLike(const State& state, const std::string& name, const at::Tensor& parameter) {
  at::Tensor tensor = ToTensor(At(state, name));
  if (tensor.sizes() != parameter.sizes() || tensor.scalar_type() != parameter.scalar_type()) {
    throw std::runtime_error("'" + name + "' in the state has another shape or type than its parameter");
  }
  return tensor.to(parameter.device());
}

void Set(optim::SGDOptions& options, const OptimizerSettings& settings) {
  options.lr(settings.learning_rate).momentum(settings.momentum).weight_decay(settings.weight_decay);
  options.nesterov(settings.nesterov);
}

// AdamW's, too.
template <class AdamOptions>
void Set(AdamOptions& options, const OptimizerSettings& settings) {
  options.lr(settings.learning_rate).eps(settings.epsilon).weight_decay(settings.weight_decay);
  options.betas({settings.beta1, settings.beta2});
}

void Set(optim::RMSpropOptions& options, const OptimizerSettings& settings) {
  options.lr(settings.learning_rate).momentum(settings.momentum).weight_decay(settings.weight_decay);
  options.alpha(settings.alpha).eps(settings.epsilon);
}

// What an optimizer keeps of one parameter: how many updates it had, where it counts them, and tensors of its shape.
struct Kept {
  std::int64_t* step = nullptr;
  std::vector<std::pair<const char*, at::Tensor*>> tensors;
};

Kept KeptIn(optim::SGDParamState& state) { return {nullptr, {{"momentum_buffer.", &state.momentum_buffer()}}}; }

Kept KeptIn(optim::RMSpropParamState& state) {
  return {&state.step(), {{"square_avg.", &state.square_avg()}, {"momentum_buffer.", &state.momentum_buffer()}}};
}

// AdamW's, too.
template <class AdamParamState>
Kept KeptIn(AdamParamState& state) {
  return {&state.step(), {{"exp_avg.", &state.exp_avg()}, {"exp_avg_sq.", &state.exp_avg_sq()}}};
}

// LibTorch makes a parameter's buffer at its first update alone, and only if there is a momentum then.
void BeginMomentum(optim::RMSpropParamState& state, const at::Tensor& parameter) {
  if (!state.momentum_buffer().defined()) state.momentum_buffer(at::zeros_like(parameter));
}

}  // namespace

// One of LibTorch's optimizers over the given parameters.
class Optimizer::Method {
 public:
  virtual ~Method() = default;
  virtual void Change(const OptimizerSettings& settings, const NamedTensors& parameters) = 0;
  virtual void Update() = 0;
  virtual void Save(const NamedTensors& parameters, const std::string& prefix, State& state) = 0;
  virtual void Load(const NamedTensors& parameters, const State& state, const std::string& prefix) = 0;
};

template <class LibrarysOptimizer, class Options, class ParameterState>
class Optimizer::MethodOf : public Method {
 public:
  explicit MethodOf(std::vector<at::Tensor> parameters) : optimizer_(std::move(parameters), Options(0.1)) {}

  void Change(const OptimizerSettings& settings, const NamedTensors& parameters) override {
    Set(static_cast<Options&>(optimizer_.param_groups().front().options()), settings);
    if constexpr (std::is_same_v<ParameterState, optim::RMSpropParamState>) {
      if (settings.momentum == 0) return;
      for (const auto& [name, parameter] : parameters) {
        if (ParameterState* kept = Find(parameter)) BeginMomentum(*kept, parameter);
      }
    }
  }

  void Update() override { optimizer_.step(); }

  void Save(const NamedTensors& parameters, const std::string& prefix, State& state) override {
    std::int64_t count = 0;
    const auto save = [&](const std::string& name, StateArray array) {
      state[prefix + name] = std::move(array);
      ++count;
    };
    for (const auto& [name, parameter] : parameters) {
      ParameterState* const found = Find(parameter);
      if (found == nullptr) continue;  // not updated yet
      const Kept kept = KeptIn(*found);
      if (kept.step != nullptr) save("step." + name, WholeNumber(*kept.step));
      for (const auto& [kind, tensor] : kept.tensors) {
        if (tensor->defined()) save(kind + name, ToArray(*tensor));
      }
    }
    state[prefix + kCountName] = WholeNumber(count);
  }

  void Load(const NamedTensors& parameters, const State& state, const std::string& prefix) override {
    StateMap states;
    std::int64_t count = 0;
    const auto holds = [&](const std::string& name) { return state.contains(prefix + name) && ++count > 0; };
    for (const auto& [name, parameter] : parameters) {
      auto loaded = std::make_unique<ParameterState>();
      const std::int64_t count_before = count;
      const Kept kept = KeptIn(*loaded);
      if (kept.step != nullptr && holds("step." + name)) *kept.step = ReadWholeNumber(state, prefix + "step." + name);
      for (const auto& [kind, tensor] : kept.tensors) {
        if (holds(kind + name)) *tensor = ToTensorLike(state, prefix + kind + name, parameter);
      }
      if (count > count_before) states[KeyOf<StateMap::key_type>(parameter)] = std::move(loaded);
    }
    if (count != ReadWholeNumber(state, prefix + kCountName)) {
      throw std::runtime_error("the state of the optimizer is not whole");
    }
    optimizer_.state() = std::move(states);
  }

 private:
  // Null if the parameter was not updated yet.
  ParameterState* Find(const at::Tensor& parameter) {
    StateMap& states = optimizer_.state();
    const auto it = states.find(KeyOf<StateMap::key_type>(parameter));
    return it == states.end() ? nullptr : &static_cast<ParameterState&>(*it->second);
  }

  LibrarysOptimizer optimizer_;
};

std::unique_ptr<Optimizer::Method> Optimizer::MakeMethod(const std::string& kind, const NamedTensors& parameters) {
  std::vector<at::Tensor> tensors;
  for (const auto& [name, parameter] : parameters) tensors.push_back(parameter);
  if (kind == "sgd") {
    return std::make_unique<MethodOf<optim::SGD, optim::SGDOptions, optim::SGDParamState>>(std::move(tensors));
  }
  if (kind == "adam") {
    return std::make_unique<MethodOf<optim::Adam, optim::AdamOptions, optim::AdamParamState>>(std::move(tensors));
  }
  if (kind == "adamw") {
    return std::make_unique<MethodOf<optim::AdamW, optim::AdamWOptions, optim::AdamWParamState>>(std::move(tensors));
  }
  ESPALIER_CHECK(kind == "rmsprop") << kind;
  return std::make_unique<MethodOf<optim::RMSprop, optim::RMSpropOptions, optim::RMSpropParamState>>(
      std::move(tensors));
}

Optimizer::Optimizer(NamedTensors parameters, const OptimizerSettings& settings) : parameters_(std::move(parameters)) {
  Change(settings);
}

Optimizer::~Optimizer() = default;

void Optimizer::Change(const OptimizerSettings& settings) {
  if (settings.kind != kind_) {
    method_ = MakeMethod(settings.kind, parameters_);
    kind_ = settings.kind;
  }
  method_->Change(settings, parameters_);
}

void Optimizer::ZeroGradients() {
  // Dropped, not filled with zeros: a gradient of -0.0 added to 0.0 is 0.0, so that bits would depend on whether the
  // process had trained before.
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

void Optimizer::Update() { method_->Update(); }

void Optimizer::Save(const std::string& prefix, State& state) const { method_->Save(parameters_, prefix, state); }

void Optimizer::Load(const State& state, const std::string& prefix) { method_->Load(parameters_, state, prefix); }

}  // namespace espalier::trainer
