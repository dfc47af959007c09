#include "worker/checkpoint/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace espalier {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kHeadBytesMax = 100'000'000;  // as safetensors has it
constexpr std::size_t kHeadAlignment = 8;
constexpr int kHeadDepthMax = 4;
constexpr char kMetadata[] = "__metadata__";

tl::unexpected<Error> Wrong(std::string message) { return MakeError(ErrorCode::kInvalidArgument, std::move(message)); }

bool AreWholeNumbers(const Json& object, const char* name) {
  const auto list = object.find(name);
  return list != object.end() && list->is_array() && std::ranges::all_of(*list, &Json::is_number_integer);
}

Result<ArrayView> ReadArray(const std::string& name, const Json& json, std::string_view all) {
  const bool is_whole = json.is_object() && json.contains("dtype") && json["dtype"].is_string() &&
                        AreWholeNumbers(json, "shape") && AreWholeNumbers(json, "data_offsets") &&
                        json["data_offsets"].size() == 2;
  if (!is_whole) return Wrong("its head says of '" + name + "' no dtype, shape and data_offsets");
  ArrayView array{.type = json["dtype"].get<std::string>(), .shape = json["shape"].get<std::vector<std::int64_t>>()};
  const auto begin = json["data_offsets"][0].get<std::uint64_t>();
  const auto end = json["data_offsets"][1].get<std::uint64_t>();
  const std::optional<std::size_t> bytes = ArrayBytes(array.type, array.shape);
  if (!bytes.has_value()) return Wrong("'" + name + "' is of the type " + array.type + ", or a shape, that cannot be");
  if (begin > end || end > all.size() || end - begin != *bytes) {
    return Wrong("'" + name + "' does not lie where its head says");
  }
  array.bytes = all.substr(begin, *bytes);
  return array;
}

}  // namespace

Result<Safetensors> ReadSafetensors(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) return Wrong("it is too short for a head");
  std::uint64_t head_bytes = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) head_bytes = (head_bytes << 8) | static_cast<unsigned char>(bytes[i]);
  if (head_bytes > kHeadBytesMax || head_bytes > bytes.size() - kLengthBytes) {
    return Wrong("it does not begin with the length of a head");
  }
  const auto is_kept = [](int depth, Json::parse_event_t, Json&) { return depth <= kHeadDepthMax; };
  const Json head = Json::parse(bytes.substr(kLengthBytes, head_bytes), is_kept, /*allow_exceptions=*/false);
  if (!head.is_object()) return Wrong("its head is no JSON object");
  Safetensors read;
  std::size_t sum = 0;
  const std::string_view all = bytes.substr(kLengthBytes + head_bytes);
  for (const auto& [name, json] : head.items()) {
    if (name == kMetadata) {
      const bool are_texts = json.is_object() && std::ranges::all_of(json, &Json::is_string);
      if (!are_texts) return Wrong("its __metadata__ holds more than texts");
      read.metadata = json.get<SafetensorsMetadata>();
      continue;
    }
    ESPALIER_ASSIGN(ArrayView array, ReadArray(name, json, all));
    sum += array.bytes.size();
    read.arrays.emplace(name, std::move(array));
  }
  if (sum != all.size()) return Wrong("its length is not the one its head says");
  return read;
}

std::string SafetensorsHead(const SafetensorsMetadata& metadata, const StateView& arrays) {
  Json head = Json::object();
  if (!metadata.empty()) head[kMetadata] = metadata;
  std::size_t offset = 0;
  for (const auto& [name, array] : arrays) {
    const std::size_t end = offset + array.bytes.size();
    head[name] = {{"dtype", array.type}, {"shape", array.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kHeadAlignment - text.size() % kHeadAlignment) % kHeadAlignment, ' ');
  std::string length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return length + text;
}

}  // namespace espalier
