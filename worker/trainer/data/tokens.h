// Texts as networks take them: a token a byte, so that any text in any script is one, as it lies in its file.
#pragma once

#include <cstdint>

namespace espalier::trainer {

inline constexpr std::int64_t kByteTokens = 256;

// Beside the bytes, in lines with a label: the first token of each, and what fills the rest of a shorter one.
inline constexpr std::int64_t kBeginningToken = 256;
inline constexpr std::int64_t kPaddingToken = 257;
inline constexpr std::int64_t kLineTokens = 258;

// So many samples of that length are evaluated at a time: small enough for the memory of a slot.
constexpr std::int64_t ValidationBatch(std::int64_t length) {
  constexpr std::int64_t kTokens = 16384;
  return length < kTokens ? kTokens / length : 1;
}

}  // namespace espalier::trainer
