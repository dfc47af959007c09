#include "worker/checkpoint/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace espalier {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kHeadBytesMax = 100'000'000;  // as safetensors has it
constexpr std::size_t kHeadAlignment = 8;
constexpr int kHeadDepthMax = 4;
constexpr char kMetadata[] = "__metadata__";

tl::unexpected<Error> Wrong(std::string message) { return MakeError(ErrorCode::kInvalidArgument, std::move(message)); }

bool AreWholeNumbers(const Json& object, const char* name) {
  const auto list = object.find(name);
  return list != object.end() && list->is_array() && std::ranges::all_of(*list, &Json::is_number_integer);
}

Result<SafetensorsHead::Array> ReadArray(const std::string& name, const Json& json) {
  const bool is_whole = json.is_object() && json.contains("dtype") && json["dtype"].is_string() &&
                        AreWholeNumbers(json, "shape") && AreWholeNumbers(json, "data_offsets") &&
                        json["data_offsets"].size() == 2;
  if (!is_whole) return Wrong("its head says of '" + name + "' no dtype, shape and data_offsets");
  SafetensorsHead::Array array{
      .name = name, .type = json["dtype"].get<std::string>(), .shape = json["shape"].get<std::vector<std::int64_t>>()};
  const std::optional<std::size_t> bytes = ArrayBytes(array.type, array.shape);
  if (!bytes.has_value()) return Wrong("'" + name + "' is of the type " + array.type + ", or a shape, that cannot be");
  array.bytes = *bytes;
  array.begin = json["data_offsets"][0].get<std::uint64_t>();
  const auto end = json["data_offsets"][1].get<std::uint64_t>();
  if (array.begin > end || end - array.begin != array.bytes) {
    return Wrong("'" + name + "' has another length than its type and shape");
  }
  return array;
}

}  // namespace

std::optional<std::size_t> SafetensorsHeadLength(std::string_view bytes) {
  if (bytes.size() < kSafetensorsLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = kSafetensorsLengthBytes; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(bytes[i]);
  return length <= kHeadBytesMax ? std::optional(length) : std::nullopt;
}

Result<SafetensorsHead> ParseSafetensorsHead(std::string_view text) {
  const auto is_kept = [](int depth, Json::parse_event_t, Json&) { return depth <= kHeadDepthMax; };
  const Json json = Json::parse(text, is_kept, /*allow_exceptions=*/false);
  if (!json.is_object()) return Wrong("its head is no JSON object");
  SafetensorsHead head;
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadata) {
      const bool are_texts = value.is_object() && std::ranges::all_of(value, &Json::is_string);
      if (!are_texts) return Wrong("its __metadata__ holds more than texts");
      head.metadata = value.get<SafetensorsMetadata>();
      continue;
    }
    ESPALIER_ASSIGN(SafetensorsHead::Array array, ReadArray(name, value));
    head.arrays.push_back(std::move(array));
  }
  return head;
}

Result<Safetensors> ReadSafetensors(std::string_view bytes) {
  const std::optional<std::size_t> length = SafetensorsHeadLength(bytes);
  if (!length.has_value() || *length > bytes.size() - kSafetensorsLengthBytes) {
    return Wrong("it does not begin with the length of a head");
  }
  ESPALIER_ASSIGN(SafetensorsHead head, ParseSafetensorsHead(bytes.substr(kSafetensorsLengthBytes, *length)));
  Safetensors read{.metadata = std::move(head.metadata)};
  const std::string_view all = bytes.substr(kSafetensorsLengthBytes + *length);
  std::size_t sum = 0;
  for (SafetensorsHead::Array& array : head.arrays) {
    if (array.begin > all.size() || array.bytes > all.size() - array.begin) {
      return Wrong("'" + array.name + "' does not lie where its head says");
    }
    sum += array.bytes;
    read.arrays.emplace(std::move(array.name), ArrayView{.type = std::move(array.type),
                                                         .shape = std::move(array.shape),
                                                         .bytes = all.substr(array.begin, array.bytes)});
  }
  if (sum != all.size()) return Wrong("its length is not the one its head says");
  return read;
}

std::string PrintSafetensorsHead(const SafetensorsMetadata& metadata, const StateView& arrays) {
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
  for (std::size_t i = 0; i < kSafetensorsLengthBytes; ++i) length += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return length + text;
}

}  // namespace espalier
