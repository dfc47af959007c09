#include "worker/checkpoint/training_state.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace espalier {

static_assert(std::endian::native == std::endian::little, "arrays are stored as they lie in memory");

std::optional<std::size_t> ElementBytes(std::string_view type) {
  constexpr std::pair<std::string_view, std::size_t> kTypes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"U16", 2}, {"I16", 2}, {"F16", 2}, {"BF16", 2},
      {"U32", 4},  {"I32", 4}, {"F32", 4}, {"U64", 8}, {"I64", 8}, {"F64", 8}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return std::nullopt;
}

std::optional<std::size_t> ArrayBytes(std::string_view type, const std::vector<std::int64_t>& shape) {
  const std::optional<std::size_t> element = ElementBytes(type);
  if (!element.has_value() || std::ranges::any_of(shape, [](std::int64_t length) { return length < 0; }))
    return std::nullopt;
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::size_t bytes = *element;
  for (const std::int64_t length : shape) {
    if (static_cast<std::size_t>(length) > std::numeric_limits<std::ptrdiff_t>::max() / bytes) return std::nullopt;
    bytes *= static_cast<std::size_t>(length);
  }
  return bytes;
}

StateArray WholeNumber(std::int64_t value) {
  StateArray array{.type = "I64", .shape = {}, .bytes = std::string(sizeof(value), '\0')};
  std::memcpy(array.bytes.data(), &value, sizeof(value));
  return array;
}

StateArray Text(std::string_view text) {
  return {.type = "U8", .shape = {static_cast<std::int64_t>(text.size())}, .bytes = std::string(text)};
}

const StateArray& At(const TrainingState& state, const std::string& name) {
  const auto it = state.find(name);
  if (it == state.end()) throw std::runtime_error("the state has no '" + name + "'");
  return it->second;
}

std::int64_t ReadWholeNumber(const TrainingState& state, const std::string& name) {
  const StateArray& array = At(state, name);
  std::int64_t value = 0;
  if (array.type != "I64" || !array.shape.empty() || array.bytes.size() != sizeof(value)) {
    throw std::runtime_error("'" + name + "' in the state is not a whole number");
  }
  std::memcpy(&value, array.bytes.data(), sizeof(value));
  return value;
}

void StateHash::Begin(std::string_view name, std::string_view type, const std::vector<std::int64_t>& shape) {
  constexpr std::string_view kZero("\0", 1);
  std::string lengths;
  for (const std::int64_t length : shape) {
    if (!lengths.empty()) lengths += ',';
    lengths += std::to_string(length);
  }
  for (const std::string_view part : {name, type, std::string_view(lengths)}) {
    sha256_.Update(part);
    sha256_.Update(kZero);
  }
}

StateView ViewOf(const TrainingState& state) {
  StateView view;
  for (const auto& [name, array] : state) view[name] = {array.type, array.shape, array.bytes};
  return view;
}

std::string Sha256Of(const TrainingState& state) { return Sha256OfView(ViewOf(state)); }

std::string Sha256OfView(const StateView& state) {
  StateHash digest;
  for (const auto& [name, array] : state) {
    digest.Begin(name, array.type, array.shape);
    digest.Add(array.bytes);
  }
  return digest.FinishHex();
}

}  // namespace espalier
