// The layout of safetensors (https://github.com/huggingface/safetensors): a head that names arrays, and their bytes.
// Pure; nothing of the arrays is copied.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "worker/checkpoint/training_state.h"

namespace espalier {

using SafetensorsMetadata = std::map<std::string, std::string>;

struct Safetensors {
  StateView arrays;  // of the bytes that were read
  SafetensorsMetadata metadata;
};

// Arrays may lie in any order. Error: kInvalidArgument, which says what of the file cannot be.
Result<Safetensors> ReadSafetensors(std::string_view bytes);

// What stands before the arrays' bytes, which follow in the order of their names. REQUIRES: each has as many as its
// type and shape say.
std::string SafetensorsHead(const SafetensorsMetadata& metadata, const StateView& arrays);

}  // namespace espalier
