#include <ATen/core/Dict.h>
#include <ATen/core/ivalue.h>
#include <torch/serialize.h>

#include "worker/trainer/models/tensor_state.h"
#include "worker/trainer/state.h"

namespace espalier::trainer {

Outcome<std::string> Serialize(const State& state) {
  try {
    c10::Dict<std::string, at::Tensor> tensors;
    for (const auto& [name, array] : state) tensors.insert(name, ToTensor(array));
    const std::vector<char> payload = torch::pickle_save(c10::IValue(tensors));
    return std::string(payload.begin(), payload.end());
  } catch (...) {
    return tl::unexpected(FailureOf(std::current_exception(), FailureKind::kTrainer));
  }
}

Outcome<State> ParseState(std::string_view payload) {
  try {
    const c10::IValue value = torch::pickle_load(std::vector<char>(payload.begin(), payload.end()));
    State state;
    for (const auto& item : value.toGenericDict()) {
      state.emplace(item.key().toStringRef(), ToArray(item.value().toTensor()));
    }
    return state;
  } catch (...) {
    return tl::unexpected(FailureOf(std::current_exception(), FailureKind::kCheckpoint));
  }
}

}  // namespace espalier::trainer
