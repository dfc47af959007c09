#include "worker/script/archive.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "protocol/trainer_reference.h"
#include "worker/checkpoint/file.h"

namespace espalier::script {
namespace {

namespace fs = std::filesystem;

// Where PATH finds it; empty if nowhere.
std::string PathOf(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string found = folder + "/" + program;
    if (access(found.c_str(), X_OK) == 0) return found;
  }
  return {};
}

bool StaysBelow(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return !path.empty() && !normal.is_absolute() && *normal.begin() != ".." && normal != "." &&
         path.find('\n') == std::string::npos;
}

}  // namespace

Result<void> Pack(const ProgramPlace& place, const fs::path& folder) {
  ESPALIER_ASSIGN(const Declaration declaration, AskProgram(place));
  std::error_code error;
  if (const auto size = fs::file_size(place.file, error); error || size > kArchiveBytesMax) {
    return MakeError(ErrorCode::kInvalidArgument, place.file.string() + " has " + std::to_string(size) +
                                                      " bytes, and may have " + std::to_string(kArchiveBytesMax) +
                                                      ": start the program from a short script");
  }
  ESPALIER_RETURN_IF_ERROR(CopyWholeFile(place.file, folder / "archive.zip"));
  std::ofstream about(folder / "about");
  about << (place.file.extension() == ".py" ? PathOf(place.python) : "") << "\n";
  // A server may have the data where this machine has not.
  about << (declaration.data_paths.empty() ? "" : DataDigest(place, declaration).value_or("")) << "\n";
  for (const std::string& path : declaration.data_paths) {
    if (fs::path(path).is_absolute()) continue;
    if (!StaysBelow(path)) {
      return MakeError(ErrorCode::kInvalidArgument,
                       path + " is not below the program's folder: move it there, or give an absolute path", "data");
    }
    about << fs::path(path).lexically_normal().string() << "\n";
  }
  if (about.flush()) return {};
  return MakeError(ErrorCode::kInternal, "cannot write " + (folder / "about").string());
}

Result<fs::path> Unpack(const fs::path& archive, const std::string& name, const fs::path& origin,
                        const std::vector<std::string>& data) {
  fs::path target = archive;
  target.replace_extension();
  std::error_code error;
  if (fs::is_directory(target, error)) return target;
  const fs::path temporary = target.string() + "." + std::to_string(getpid());
  fs::remove_all(temporary, error);
  const auto unpack = [&]() -> Result<void> {
    fs::create_directories(temporary, error);
    ESPALIER_RETURN_IF_ERROR(CopyWholeFile(archive, temporary / name));
    fs::permissions(temporary / name, fs::perms::owner_all, error);
    for (const std::string& path : data) {
      fs::create_directories((temporary / path).parent_path(), error);
      fs::create_symlink(origin / path, temporary / path, error);
      if (error) return MakeError(ErrorCode::kInternal, "cannot link " + path + ": " + error.message());
    }
    return RenameFile(temporary, target);
  };
  const Result<void> done = unpack();
  if (done.has_value()) return target;
  fs::remove_all(temporary, error);
  if (fs::is_directory(target, error)) return target;  // another worker came first
  return tl::unexpected<Error>(done.error());
}

}  // namespace espalier::script
