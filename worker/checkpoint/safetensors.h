// The layout of safetensors (https://github.com/huggingface/safetensors): eight bytes that say how long the head is,
// the head, which names arrays, and their bytes. Pure; nothing of the arrays is copied.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "worker/checkpoint/training_state.h"

namespace espalier {

using SafetensorsMetadata = std::map<std::string, std::string>;

// Of the head's length, at the beginning of a file.
inline constexpr std::size_t kSafetensorsLengthBytes = 8;

struct SafetensorsHead {
  struct Array {
    std::string name;
    std::string type;
    std::vector<std::int64_t> shape;
    std::size_t begin = 0;  // behind the head
    std::size_t bytes = 0;  // as many as type and shape say
  };
  SafetensorsMetadata metadata;
  std::vector<Array> arrays;  // by name; they may lie in any order
};

// What the first kSafetensorsLengthBytes of a file say; nothing if they are fewer, or say more than any head has.
std::optional<std::size_t> SafetensorsHeadLength(std::string_view bytes);

// Error: kInvalidArgument, which says what of the head cannot be.
Result<SafetensorsHead> ParseSafetensorsHead(std::string_view head);

struct Safetensors {
  StateView arrays;  // of the bytes that were read
  SafetensorsMetadata metadata;
};

// A whole file. Error: kInvalidArgument, which says what of it cannot be.
Result<Safetensors> ReadSafetensors(std::string_view bytes);

// What stands before the arrays' bytes, which follow in the order of their names. REQUIRES: each has as many as its
// type and shape say.
std::string PrintSafetensorsHead(const SafetensorsMetadata& metadata, const StateView& arrays);

}  // namespace espalier
