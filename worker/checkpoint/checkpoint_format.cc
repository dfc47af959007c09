#include "worker/checkpoint/checkpoint_format.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/digest.h"
#include "base/failpoint.h"
#include "worker/checkpoint/file.h"
#include "worker/checkpoint/safetensors.h"
#include "worker/protocol/encoding.h"

namespace espalier {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr char kVersion[] = "1";
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
  return PrintSafetensorsHead({{kVersionKey, kVersion},
                               {kIdentityKey, identity},
                               {kStateKey, state_sha256},
                               {kHeadKey, HeadSha256(identity, state_sha256)}},
                              state);
}

using Entry = SafetensorsHead::Array;

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

std::string TextOf(const SafetensorsMetadata& metadata, const char* key) {
  const auto it = metadata.find(key);
  return it == metadata.end() ? std::string() : it->second;
}

// Error: kNotFound, kUnavailable.
Result<OpenCheckpoint> Open(const std::filesystem::path& path) {
  Result<InputFile> file = InputFile::Open(path);
  if (!file.has_value()) return tl::unexpected<Error>(ReadingError(file.error()));
  std::string bytes(kSafetensorsLengthBytes, '\0');
  const auto read = [&](std::string& into) { return file->Read(into.data(), into.size()); };
  if (file->size() < kSafetensorsLengthBytes) return Absent(path, "is foreign: it is too short");
  if (const auto done = read(bytes); !done.has_value()) return tl::unexpected<Error>(ReadingError(done.error()));
  const std::optional<std::size_t> head_bytes = SafetensorsHeadLength(bytes);
  if (!head_bytes.has_value()) return Absent(path, "is foreign: it does not begin as a checkpoint does");
  if (*head_bytes > file->size() - kSafetensorsLengthBytes) return Damaged(path, "it is cut");
  bytes.resize(*head_bytes);
  if (const auto done = read(bytes); !done.has_value()) return tl::unexpected<Error>(ReadingError(done.error()));
  Result<SafetensorsHead> parsed = ParseSafetensorsHead(bytes);
  if (!parsed.has_value()) return Absent(path, "is foreign or damaged: " + parsed.error().message);
  const SafetensorsMetadata& metadata = parsed->metadata;
  if (!metadata.contains(kHeadKey)) return Absent(path, "is foreign: its head is none of a checkpoint");
  const std::string identity = TextOf(metadata, kIdentityKey);
  OpenCheckpoint open{.file = *std::move(file), .head = {.state_sha256 = TextOf(metadata, kStateKey)}};
  if (TextOf(metadata, kHeadKey) != HeadSha256(identity, open.head.state_sha256)) {
    return Damaged(path, "its head's digest does not match");
  }
  if (TextOf(metadata, kVersionKey) != kVersion) return Absent(path, "is of another version");
  const auto identified = worker::ParseCheckpointIdentity(identity);
  if (!identified.has_value()) return Damaged(path, identified.error().message);
  open.head.identity = *identified;
  std::size_t offset = 0;
  for (Entry& entry : parsed->arrays) {
    if (entry.begin != offset) return Damaged(path, "its head says of '" + entry.name + "' what cannot be");
    offset += entry.bytes;
    open.entries.push_back(std::move(entry));
  }
  if (open.file.size() - kSafetensorsLengthBytes - *head_bytes != offset) {
    return Damaged(path, "its length is not the one it says");
  }
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
  StateHash digest;
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
