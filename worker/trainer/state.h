// A trainer's complete state as named arrays: model, optimizer, random generators, place in the data. Plain bytes, so
// that what serializes, digests and writes it needs to know nothing of the library that computed it. Thread-safe as
// values are: a State is a copy, and shares nothing with the trainer that it came from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "worker/trainer/failure.h"

namespace espalier::trainer {

// One array, row by row, little-endian.
struct StateArray {
  // "float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64" or "boolean".
  std::string type;
  std::vector<std::int64_t> shape;
  // As many as type and shape say.
  std::string bytes;
  friend bool operator==(const StateArray&, const StateArray&) = default;
};

using State = std::map<std::string, StateArray>;

// A single whole number, and text, as arrays (no shape, int64; one dimension, uint8).
StateArray WholeNumber(std::int64_t value);
StateArray Text(std::string_view text);

// Reads what WholeNumber made. Throws std::runtime_error, naming the array, if it is missing or of another form.
std::int64_t ReadWholeNumber(const State& state, const std::string& name);

// The array of that name. Throws std::runtime_error if there is none.
const StateArray& At(const State& state, const std::string& name);

// SHA-256, hexadecimal. For each array, sorted by name, is digested: name, type, shape (decimal, joined by commas),
// each followed by a zero byte, then the bytes.
std::string Sha256Of(const State& state);

// The payload of a checkpoint file: what Python's torch.load reads as a dict of tensors. Equal to the bit when read
// back. Failures: kOutOfMemory, kTrainer (an array that is not what it says); of ParseState, kCheckpoint.
Outcome<std::string> Serialize(const State& state);
Outcome<State> ParseState(std::string_view payload);

}  // namespace espalier::trainer
