// Between tensors and the arrays of a State, for trainers that use LibTorch. Not thread-safe where a module, an
// optimizer or the random generators are read or set.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/models/named_tensors.h"
#include "worker/trainer/state.h"

// Its header takes seconds, which only those files pay that have a module.
namespace torch::nn {
class Module;
}

namespace espalier::trainer {

// A copy, wherever the tensor lies.
StateArray ToArray(const at::Tensor& tensor);

// A copy, on the CPU. Throws std::runtime_error if the type is unknown or the bytes are not as many as the shape says.
at::Tensor ToTensor(const StateArray& array);

// As prefix + name. Loading overwrites the tensors' values; it throws std::runtime_error if one is missing or of
// another form.
void SaveTensors(const NamedTensors& tensors, const std::string& prefix, State& state);
void LoadTensors(const State& state, const std::string& prefix, const NamedTensors& tensors);

// The states of LibTorch's random generators, which dropout and initial weights draw from: of the CPU and, where this
// process trains there, of the GPU. As prefix + "cpu", prefix + "cuda".
void SaveRandom(const std::string& prefix, State& state);
void LoadRandom(const State& state, const std::string& prefix);

// Puts a module and all in it into evaluation mode, and each back into its own when it goes out of scope, also by an
// exception.
class EvaluationMode {
 public:
  // `module` must live as long.
  explicit EvaluationMode(torch::nn::Module& module);
  ~EvaluationMode();
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  torch::nn::Module& module_;
  const bool was_training_;
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> within_;  // and whether it was training
};

}  // namespace espalier::trainer
