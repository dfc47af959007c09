#include "worker/trainer/models/tensor_state.h"

#include <ATen/Context.h>
#include <torch/nn/module.h>

#include <array>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "worker/trainer/models/placement.h"
#include "worker/trainer/spare_memory.h"

namespace espalier::trainer {
namespace {

constexpr std::array<std::pair<at::ScalarType, std::string_view>, 10> kTypes{{{at::kHalf, "F16"},
                                                                              {at::kBFloat16, "BF16"},
                                                                              {at::kFloat, "F32"},
                                                                              {at::kDouble, "F64"},
                                                                              {at::kByte, "U8"},
                                                                              {at::kChar, "I8"},
                                                                              {at::kShort, "I16"},
                                                                              {at::kInt, "I32"},
                                                                              {at::kLong, "I64"},
                                                                              {at::kBool, "BOOL"}}};

std::string NameOf(at::ScalarType type) {
  for (const auto& [scalar_type, name] : kTypes) {
    if (scalar_type == type) return std::string(name);
  }
  throw std::runtime_error(std::string("a state cannot hold tensors of type ") + c10::toString(type));
}

at::ScalarType ScalarTypeOf(std::string_view name) {
  for (const auto& [scalar_type, type_name] : kTypes) {
    if (type_name == name) return scalar_type;
  }
  throw std::runtime_error("the state holds an array of unknown type '" + std::string(name) + "'");
}

// Overwrites the values of `target`, which keeps its identity.
void Assign(const State& state, const std::string& name, at::Tensor target) {
  const at::Tensor value = ToTensor(At(state, name));
  if (value.sizes() != target.sizes() || value.scalar_type() != target.scalar_type()) {
    throw std::runtime_error("'" + name + "' in the state has another shape or type than the model's");
  }
  target.copy_(value);
}

// What this process draws from, each with its name in a state.
std::vector<std::pair<std::string, at::Generator>> Generators() {
  std::vector<std::pair<std::string, at::Generator>> generators{
      {"cpu", at::globalContext().defaultGenerator(at::kCPU)}};
  if (TrainingDevice().is_cuda()) {
    generators.emplace_back("cuda", at::globalContext().defaultGenerator(TrainingDevice()));
  }
  return generators;
}

}  // namespace

StateArray ToArray(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
  StateArray array{.type = NameOf(plain.scalar_type()), .shape = plain.sizes().vec(), .bytes = {}};
  if (plain.numel() == 0) return array;
  array.bytes = TakeBytes(plain.nbytes());
  std::memcpy(array.bytes.data(), plain.data_ptr(), plain.nbytes());
  return array;
}

at::Tensor ToTensor(const StateArray& array) {
  at::Tensor tensor = at::empty(array.shape, at::TensorOptions().dtype(ScalarTypeOf(array.type)));
  if (tensor.nbytes() != array.bytes.size()) throw std::runtime_error("the state holds an array of a wrong length");
  if (!array.bytes.empty()) std::memcpy(tensor.data_ptr(), array.bytes.data(), array.bytes.size());
  return tensor;
}

void SaveTensors(const NamedTensors& tensors, const std::string& prefix, State& state) {
  for (const auto& [name, tensor] : tensors) state[prefix + name] = ToArray(tensor);
}

void LoadTensors(const State& state, const std::string& prefix, const NamedTensors& tensors) {
  const at::NoGradGuard no_gradients;
  for (const auto& [name, tensor] : tensors) Assign(state, prefix + name, tensor);
}

void SaveRandom(const std::string& prefix, State& state) {
  for (auto& [name, generator] : Generators()) {
    const std::lock_guard lock(generator.mutex());
    state[prefix + name] = ToArray(generator.get_state());
  }
}

void LoadRandom(const State& state, const std::string& prefix) {
  for (auto& [name, generator] : Generators()) {
    const at::Tensor saved = ToTensor(At(state, prefix + name));
    const std::lock_guard lock(generator.mutex());
    generator.set_state(saved);
  }
}

EvaluationMode::EvaluationMode(torch::nn::Module& module) : module_(module), was_training_(module.is_training()) {
  // Parents come before what is in them. The module itself may be no shared object.
  for (auto& each : module.modules(/*include_self=*/false)) within_.emplace_back(each, each->is_training());
  module_.eval();
}

EvaluationMode::~EvaluationMode() {
  module_.train(was_training_);
  for (const auto& [each, was_training] : within_) each->train(was_training);
}

}  // namespace espalier::trainer
