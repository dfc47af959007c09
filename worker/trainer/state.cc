#include "worker/trainer/state.h"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "base/digest.h"

namespace espalier::trainer {

static_assert(std::endian::native == std::endian::little, "arrays are stored as they lie in memory");

StateArray WholeNumber(std::int64_t value) {
  StateArray array{.type = "int64", .shape = {}, .bytes = std::string(sizeof(value), '\0')};
  std::memcpy(array.bytes.data(), &value, sizeof(value));
  return array;
}

StateArray Text(std::string_view text) {
  return {.type = "uint8", .shape = {static_cast<std::int64_t>(text.size())}, .bytes = std::string(text)};
}

const StateArray& At(const State& state, const std::string& name) {
  const auto it = state.find(name);
  if (it == state.end()) throw std::runtime_error("the state has no '" + name + "'");
  return it->second;
}

std::int64_t ReadWholeNumber(const State& state, const std::string& name) {
  const StateArray& array = At(state, name);
  std::int64_t value = 0;
  if (array.type != "int64" || !array.shape.empty() || array.bytes.size() != sizeof(value)) {
    throw std::runtime_error("'" + name + "' in the state is not a whole number");
  }
  std::memcpy(&value, array.bytes.data(), sizeof(value));
  return value;
}

std::string Sha256Of(const State& state) {
  constexpr std::string_view kZero("\0", 1);
  Sha256 sha256;
  for (const auto& [name, array] : state) {
    std::string shape;
    for (const std::int64_t length : array.shape) {
      if (!shape.empty()) shape += ',';
      shape += std::to_string(length);
    }
    for (const std::string_view part :
         {std::string_view(name), std::string_view(array.type), std::string_view(shape)}) {
      sha256.Update(part);
      sha256.Update(kZero);
    }
    sha256.Update(array.bytes);
  }
  return sha256.FinishHex();
}

}  // namespace espalier::trainer
