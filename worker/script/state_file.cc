#include "worker/script/state_file.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "worker/checkpoint/file.h"
#include "worker/checkpoint/mapped_file.h"
#include "worker/checkpoint/safetensors.h"

namespace espalier::script {
namespace {

using Json = nlohmann::json;

// Arrays beside the program's own.
constexpr std::string_view kOwn = "espalier.";
constexpr char kOrigin[] = "espalier.origin";
constexpr char kStep[] = "espalier.step";
constexpr char kMetadata[] = "espalier.metadata";
constexpr char kBytes[] = "espalier.bytes";  // of a file that is none of safetensors

ArrayView TextView(std::string_view text) { return {"U8", {static_cast<std::int64_t>(text.size())}, text}; }

tl::unexpected<Error> Foreign(const std::filesystem::path& path, const std::string& why) {
  return MakeError(ErrorCode::kNotFound, "checkpoint " + path.string() + " is foreign: " + why);
}

Result<void> Write(const std::filesystem::path& path, const std::vector<std::string_view>& pieces) {
  ESPALIER_ASSIGN(OutputFile file, OutputFile::Create(path));
  for (const std::string_view piece : pieces) ESPALIER_RETURN_IF_ERROR(file.Write(piece));
  return {};
}

}  // namespace

StateFile::~StateFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

ScratchFolder::ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  std::filesystem::create_directories(path_, ignored);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<void> CheckProgramFile(const std::filesystem::path& path, bool is_safetensors) {
  ESPALIER_ASSIGN(const MappedFile file, MappedFile::Open(path));
  if (!is_safetensors) return {};
  const Result<Safetensors> read = ReadSafetensors(file.bytes());
  if (!read.has_value()) return MakeError(ErrorCode::kInternal, "it is no safetensors file: " + read.error().message);
  for (const auto& [name, array] : read->arrays) {
    if (!name.starts_with(kOwn)) continue;
    return MakeError(ErrorCode::kInternal, "the array " + name + " has a name of the service's own; choose another");
  }
  return {};
}

Result<WrittenCheckpoint> WriteState(const std::filesystem::path& to, const worker::CheckpointIdentity& identity,
                                     const std::filesystem::path& path, bool is_safetensors,
                                     const std::string& origin) {
  ESPALIER_ASSIGN(const MappedFile file, MappedFile::Open(path));
  StateView state;
  std::string metadata;
  if (is_safetensors) {
    ESPALIER_ASSIGN(Safetensors read, ReadSafetensors(file.bytes()));
    state = std::move(read.arrays);
    metadata = Json(read.metadata).dump(-1, ' ', false, Json::error_handler_t::replace);
    state[kMetadata] = TextView(metadata);
  } else {
    state[kBytes] = TextView(file.bytes());
  }
  const StateArray step = WholeNumber(identity.point.step.value);
  state[kOrigin] = TextView(origin);
  state[kStep] = {step.type, step.shape, step.bytes};
  return WriteCheckpointFileOfView(to, identity, state);
}

Result<Step> ReadState(const std::filesystem::path& from, const std::filesystem::path& path,
                       const std::optional<std::string>& origin) {
  ESPALIER_RETURN_IF_ERROR(CheckCheckpointFile(from));
  ESPALIER_ASSIGN(const MappedFile file, MappedFile::Open(from));
  ESPALIER_ASSIGN(Safetensors read, ReadSafetensors(file.bytes()));
  StateView& state = read.arrays;
  const auto own = [&](const char* name) { return state.contains(name) ? state[name].bytes : std::string_view(); };
  if (origin && own(kOrigin) != *origin) {
    return Foreign(from, "it is of another training: " + std::string(own(kOrigin)) + ", here " + *origin);
  }
  Step step;
  if (own(kStep).size() != sizeof(step.value)) return Foreign(from, "it does not say its step");
  std::memcpy(&step.value, own(kStep).data(), sizeof(step.value));
  if (state.contains(kBytes)) {
    ESPALIER_RETURN_IF_ERROR(Write(path, {state[kBytes].bytes}));
    return step;
  }
  const Json metadata = Json::parse(own(kMetadata), nullptr, /*allow_exceptions=*/false);
  if (!metadata.is_object()) return Foreign(from, "it lacks its metadata");
  std::erase_if(state, [](const auto& item) { return item.first.starts_with(kOwn); });
  const std::string head = PrintSafetensorsHead(metadata.get<SafetensorsMetadata>(), state);
  std::vector<std::string_view> pieces{head};
  for (const auto& [name, array] : state) pieces.push_back(array.bytes);
  ESPALIER_RETURN_IF_ERROR(Write(path, pieces));
  return step;
}

}  // namespace espalier::script
