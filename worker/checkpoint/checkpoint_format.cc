#include "worker/checkpoint/checkpoint_format.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/digest.h"
#include "base/failpoint.h"
#include "worker/checkpoint/file.h"
#include "worker/checkpoint/safetensors.h"
#include "worker/protocol/encoding.h"

namespace espalier {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kHeadBytesMax = 100'000'000;  // as safetensors has it
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr int kHeadDepthMax = 4;
constexpr char kVersion[] = "1";
constexpr char kMetadata[] = "__metadata__";
constexpr char kVersionKey[] = "espalier.version";
constexpr char kIdentityKey[] = "espalier.identity";
constexpr char kStateKey[] = "espalier.state_sha256";
constexpr char kHeadKey[] = "espalier.head_sha256";

std::string HeadSha256(std::string_view identity, std::string_view state_sha256) {
  return Sha256Hex(std::string(identity) + '\0' + std::string(state_sha256));
}

Result<std::string> HeadOf(const std::string& identity, const std::string& state_sha256, const StateView& state) {
  for (const auto& [name, array] : state) {
    if (ArrayBytes(array.type, array.shape) == array.bytes.size()) continue;
    return MakeError(ErrorCode::kInternal, "the array '" + name + "' of the state is not what it says");
  }
  return SafetensorsHead({{kVersionKey, kVersion},
                          {kIdentityKey, identity},
                          {kStateKey, state_sha256},
                          {kHeadKey, HeadSha256(identity, state_sha256)}},
                         state);
}

// One array, as the head says.
struct Entry {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;
};

// A file that is being read, whose head is known.
struct OpenCheckpoint {
  InputFile file;
  CheckpointHead head;
  std::vector<Entry> entries;  // in the order of names and of bytes
};

tl::unexpected<Error> Absent(const std::filesystem::path& path, const std::string& why) {
  return MakeError(ErrorCode::kNotFound, "checkpoint " + path.string() + " " + why);
}

tl::unexpected<Error> Damaged(const std::filesystem::path& path, const std::string& why) {
  return Absent(path, "is damaged: " + why);
}

// Of what the system says, only that there is no such file is known of the file.
Error ReadingError(Error error) {
  if (error.code != ErrorCode::kNotFound) error.code = ErrorCode::kUnavailable;
  return error;
}

std::string TextOf(const Json& json, const char* name) {
  const auto it = json.find(name);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// The entry of an array that begins at `offset`, which is moved behind it; nothing if it is not what it should be.
std::optional<Entry> ReadEntry(const std::string& name, const Json& json, std::size_t& offset) {
  if (!json.is_object()) return std::nullopt;
  const auto shape = json.find("shape");
  const auto offsets = json.find("data_offsets");
  const auto is_integer = [](const Json& each) { return each.is_number_integer(); };
  const auto are_integers = [&](const auto& list) {
    return list != json.end() && list->is_array() && std::ranges::all_of(*list, is_integer);
  };
  if (!are_integers(shape) || !are_integers(offsets) || offsets->size() != 2) return std::nullopt;
  Entry entry{.name = name, .type = TextOf(json, "dtype"), .shape = shape->get<std::vector<std::int64_t>>()};
  const std::optional<std::size_t> bytes = ArrayBytes(entry.type, entry.shape);
  if (!bytes.has_value() || (*offsets)[0] != offset || (*offsets)[1] != offset + *bytes) return std::nullopt;
  entry.bytes = *bytes;
  offset += *bytes;
  return entry;
}

// Error: kNotFound, kUnavailable.
Result<OpenCheckpoint> Open(const std::filesystem::path& path) {
  Result<InputFile> file = InputFile::Open(path);
  if (!file.has_value()) return tl::unexpected<Error>(ReadingError(file.error()));
  std::string bytes(kLengthBytes, '\0');
  const auto read = [&](std::string& into) { return file->Read(into.data(), into.size()); };
  if (file->size() < kLengthBytes) return Absent(path, "is foreign: it is too short");
  if (const auto done = read(bytes); !done.has_value()) return tl::unexpected<Error>(ReadingError(done.error()));
  std::uint64_t head_bytes = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) head_bytes = (head_bytes << 8) | static_cast<unsigned char>(bytes[i]);
  if (head_bytes > kHeadBytesMax) return Absent(path, "is foreign: it does not begin as a checkpoint does");
  if (head_bytes > file->size() - kLengthBytes) return Damaged(path, "it is cut");
  bytes.resize(head_bytes);
  if (const auto done = read(bytes); !done.has_value()) return tl::unexpected<Error>(ReadingError(done.error()));
  const auto is_kept = [](int depth, Json::parse_event_t, Json&) { return depth <= kHeadDepthMax; };
  const Json head = Json::parse(bytes, is_kept, /*allow_exceptions=*/false);
  if (!head.is_object() || !head.contains(kMetadata) || !head[kMetadata].is_object()) {
    return Absent(path, "is foreign: its head is none of a checkpoint");
  }
  const Json& metadata = head[kMetadata];
  const std::string identity = TextOf(metadata, kIdentityKey);
  OpenCheckpoint open{.file = *std::move(file), .head = {.state_sha256 = TextOf(metadata, kStateKey)}};
  if (TextOf(metadata, kHeadKey) != HeadSha256(identity, open.head.state_sha256)) {
    return Damaged(path, "its head's digest does not match");
  }
  if (TextOf(metadata, kVersionKey) != kVersion) return Absent(path, "is of another version");
  const auto parsed = worker::ParseCheckpointIdentity(identity);
  if (!parsed.has_value()) return Damaged(path, parsed.error().message);
  open.head.identity = *parsed;
  std::size_t offset = 0;
  for (const auto& [name, json] : head.items()) {  // sorted by name
    if (name == kMetadata) continue;
    std::optional<Entry> entry = ReadEntry(name, json, offset);
    if (!entry.has_value()) return Damaged(path, "its head says of '" + name + "' what cannot be");
    open.entries.push_back(*std::move(entry));
  }
  if (open.file.size() - kLengthBytes - head_bytes != offset) return Damaged(path, "its length is not the one it says");
  return open;
}

// The bytes of `count` in pieces. Error: kUnavailable.
Result<void> ReadPieces(InputFile& file, std::size_t count, const std::function<void(std::string_view)>& take) {
  std::string piece;
  while (count > 0) {
    piece.resize(std::min(count, kPieceBytes));
    if (const auto done = file.Read(piece.data(), piece.size()); !done.has_value()) {
      return tl::unexpected<Error>(ReadingError(done.error()));
    }
    take(piece);
    count -= piece.size();
  }
  return {};
}

// Reads all arrays, giving each piece to `take` with its entry.
Result<CheckpointHead> ReadArrays(const std::filesystem::path& path, OpenCheckpoint open,
                                  const std::function<void(const Entry&, std::string_view)>& take) {
  StateDigest digest;
  for (const Entry& entry : open.entries) {
    digest.Begin(entry.name, entry.type, entry.shape);
    take(entry, {});
    ESPALIER_RETURN_IF_ERROR(ReadPieces(open.file, entry.bytes, [&](std::string_view piece) {
      digest.Add(piece);
      take(entry, piece);
    }));
  }
  if (digest.FinishHex() != open.head.state_sha256) return Damaged(path, "its state's digest does not match");
  return open.head;
}

}  // namespace

Result<WrittenCheckpoint> WriteCheckpointFile(const std::filesystem::path& path,
                                              const worker::CheckpointIdentity& identity, const TrainingState& state) {
  return WriteCheckpointFileOfView(path, identity, ViewOf(state));
}

Result<WrittenCheckpoint> WriteCheckpointFileOfView(const std::filesystem::path& path,
                                                    const worker::CheckpointIdentity& identity,
                                                    const StateView& state) {
  WrittenCheckpoint written{.state_sha256 = Sha256OfView(state)};
  ESPALIER_ASSIGN(const std::string head, HeadOf(worker::Print(identity), written.state_sha256, state));
  std::vector<std::string_view> pieces{head};
  for (const auto& [name, array] : state) pieces.emplace_back(array.bytes);
  for (const std::string_view piece : pieces) written.bytes += static_cast<std::int64_t>(piece.size());

  std::filesystem::path temporary = path;
  temporary += kTemporarySuffix;
  const auto write = [&]() -> Result<void> {
    ESPALIER_RETURN_IF_ERROR(WriteWholeFile(temporary, pieces));
    ESPALIER_FAILPOINT("worker.save.before_rename");
    return RenameFile(temporary, path);
  };
  if (const Result<void> done = write(); !done.has_value()) {
    unlink(temporary.c_str());
    return MakeError(ErrorCode::kInternal, done.error().message);
  }
  return written;
}

Result<CheckpointFile> ReadCheckpointFile(const std::filesystem::path& path) {
  ESPALIER_ASSIGN(OpenCheckpoint open, Open(path));
  CheckpointFile file;
  ESPALIER_ASSIGN(file.head, ReadArrays(path, std::move(open), [&](const Entry& entry, std::string_view piece) {
                    StateArray& array = file.state[entry.name];
                    if (piece.empty()) {
                      array.type = entry.type;
                      array.shape = entry.shape;
                      array.bytes.reserve(entry.bytes);
                    }
                    array.bytes += piece;
                  }));
  return file;
}

Result<CheckpointHead> CheckCheckpointFile(const std::filesystem::path& path) {
  ESPALIER_ASSIGN(OpenCheckpoint open, Open(path));
  return ReadArrays(path, std::move(open), [](const Entry&, std::string_view) {});
}

}  // namespace espalier
