// Between tensors and the arrays of a State, for trainers that use LibTorch. Not thread-safe where a module, an
// optimizer or the random generators are read or set.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "worker/trainer/state.h"

// Its header takes seconds, which only those files pay that have a module.
namespace torch::nn {
class Module;
}

namespace espalier {

// A copy, wherever the tensor lies.
StateArray ToArray(const at::Tensor& tensor);

// A copy, on the CPU. Throws std::runtime_error if the type is unknown or the bytes are not as many as the shape says.
at::Tensor ToTensor(const StateArray& array);

// Parameters and buffers, as prefix + name. Loading throws std::runtime_error if one is missing or of another form.
void SaveModule(const torch::nn::Module& module, const std::string& prefix, State& state);
void LoadModule(const State& state, const std::string& prefix, torch::nn::Module& module);

// The state of LibTorch's random generator of the CPU, which dropout and initial weights draw from.
void SaveRandom(const std::string& name, State& state);
void LoadRandom(const State& state, const std::string& name);

// Restores the random generator when it goes out of scope.
class RandomGuard {
 public:
  RandomGuard();
  ~RandomGuard();
  RandomGuard(const RandomGuard&) = delete;
  RandomGuard& operator=(const RandomGuard&) = delete;

 private:
  const at::Tensor state_;
};

}  // namespace espalier
