#include "worker/script/program.h"

#include <unistd.h>

#include <algorithm>

#include "base/digest.h"
#include "base/key_text.h"
#include "worker/checkpoint/mapped_file.h"
#include "worker/script/program_run.h"

namespace espalier::script {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> Refused(std::string message) {
  return MakeError(ErrorCode::kFailedPrecondition, std::move(message));
}

Result<std::string> FileDigest(const fs::path& path) {
  const Result<MappedFile> file = MappedFile::Open(path);
  if (!file.has_value()) return Refused(file.error().message);
  return Sha256Hex(file->bytes());
}

// Those of the files in a folder, at every depth, in the order of their names; of a file, itself.
std::vector<fs::path> FilesIn(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<std::string>> CommandOf(const ProgramPlace& place) {
  std::error_code error;
  if (!fs::is_regular_file(place.file, error)) {
    return MakeError(ErrorCode::kInvalidArgument, "there is no file " + place.file.string());
  }
  if (place.file.extension() == ".py") return std::vector<std::string>{place.python, place.file.string()};
  if (access(place.file.c_str(), X_OK) == 0) return std::vector<std::string>{place.file.string()};
  return MakeError(ErrorCode::kInvalidArgument,
                   place.file.string() +
                       " cannot be run: it needs a first line such as #!/bin/sh and `chmod +x`, or a "
                       "name that ends in .py");
}

Result<Declaration> AskProgram(const ProgramPlace& place) {
  ESPALIER_ASSIGN(std::vector<std::string> command, CommandOf(place));
  command.emplace_back("--describe");
  ESPALIER_ASSIGN(const auto run, ProgramRun::Start(command, place.file.parent_path(), place.mark));
  std::string said;
  while (const std::optional<std::string> line = run->NextLine([] {})) said += *line + "\n";
  const std::string asked = place.file.filename().string() + " --describe ";
  if (!run->succeeded()) return Refused(asked + run->End() + (said.empty() ? "" : "\n" + said));
  Result<Declaration> declaration = ReadDeclaration(said);
  if (declaration.has_value()) return declaration;
  const Error& error = declaration.error();
  return Refused(asked + "is to print one JSON object (docs/script_trainers.md), and printed another: " +
                 (error.field.empty() ? "" : error.field + ": ") + error.message);
}

Result<std::string> DataDigest(const ProgramPlace& place, const Declaration& declaration) {
  if (!declaration.writes_safetensors) return std::string(kUnknownData);
  if (!declaration.data_version.empty()) return Sha256Hex("version " + declaration.data_version);
  if (declaration.data_paths.empty()) return std::string(kUnknownData);
  KeyText key("script-data-1");
  for (const std::string& each : declaration.data_paths) {
    const fs::path path = place.file.parent_path() / each;
    std::error_code error;
    if (!fs::exists(path, error)) return Refused("data: there is no " + path.string());
    for (const fs::path& file : FilesIn(path)) {
      ESPALIER_ASSIGN(const std::string digest, FileDigest(file));
      key.Add(each).Add(file.lexically_relative(path).string()).Add(digest);
    }
  }
  return Sha256Hex(key.text());
}

Result<Offer> OfferOf(const ProgramPlace& place, const Declaration& declaration) {
  std::string code = "version " + declaration.version;
  if (declaration.version.empty()) {
    ESPALIER_ASSIGN(code, FileDigest(place.file));
  }
  KeyText key("script-code-1");
  key.Add(code).Add(declaration.writes_safetensors ? "safetensors" : "bytes");
  for (const auto& [name, value] : place.environment) key.Add(name).Add(value);
  Offer offer{.trainer = place.file.stem().string(), .code_digest = Sha256Hex(key.text())};
  ESPALIER_ASSIGN(offer.data_digest, DataDigest(place, declaration));
  offer.evaluation_digest = Sha256Hex(offer.code_digest + " " + offer.data_digest);
  offer.schema = declaration.schema;
  offer.metrics = declaration.metrics;
  return offer;
}

}  // namespace espalier::script
