// A trainer's complete state as named arrays: model, optimizer, random generators, place in the data. Plain bytes, so
// that what serializes, digests and writes it needs to know nothing of the library that computed it. Thread-safe as
// values are: a State is a copy, and shares nothing with the trainer that it came from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"

namespace espalier {

// One array, row by row, little-endian.
struct StateArray {
  // As safetensors names them: "BOOL", "U8", "I8", "U16", "I16", "F16", "BF16", "U32", "I32", "F32", "U64", "I64",
  // "F64".
  std::string type;
  std::vector<std::int64_t> shape;
  // As many as type and shape say.
  std::string bytes;
  friend bool operator==(const StateArray&, const StateArray&) = default;
};

using TrainingState = std::map<std::string, StateArray>;

// The same of arrays whose bytes lie elsewhere.
struct ArrayView {
  std::string type;
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};
using StateView = std::map<std::string, ArrayView>;

// REQUIRES: the state outlives it.
StateView ViewOf(const TrainingState& state);

// Of one element, in bytes; nothing if there is no such type.
std::optional<std::size_t> ElementBytes(std::string_view type);

// As many bytes as an array of that type and shape has; nothing if there is no such type, a length is negative, or
// there are more than memory can hold.
std::optional<std::size_t> ArrayBytes(std::string_view type, const std::vector<std::int64_t>& shape);

// A single whole number, and text, as arrays (no shape, I64; one dimension, U8).
StateArray WholeNumber(std::int64_t value);
StateArray Text(std::string_view text);

// Reads what WholeNumber made. Throws std::runtime_error, naming the array, if it is missing or of another form.
std::int64_t ReadWholeNumber(const TrainingState& state, const std::string& name);

// The array of that name. Throws std::runtime_error if there is none.
const StateArray& At(const TrainingState& state, const std::string& name);

// SHA-256, hexadecimal, over arrays given in the order of their names: of each is digested name, type, shape (decimal,
// joined by commas), each followed by a zero byte, then the bytes.
class StateHash {
 public:
  void Begin(std::string_view name, std::string_view type, const std::vector<std::int64_t>& shape);
  void Add(std::string_view bytes) { sha256_.Update(bytes); }
  // REQUIRES: called once.
  std::string FinishHex() { return sha256_.FinishHex(); }

 private:
  Sha256 sha256_;
};

std::string Sha256Of(const TrainingState& state);
std::string Sha256OfView(const StateView& state);

}  // namespace espalier
