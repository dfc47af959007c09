// A folder of the process's own, for as long as this lives.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"

namespace espalier {

class ScratchFolder {
 public:
  // Error: kInternal when the system gives none.
  static Result<ScratchFolder> Create() {
    std::error_code error;
    std::string name = std::filesystem::temp_directory_path(error) / "espalier-XXXXXX";
    if (error || mkdtemp(name.data()) == nullptr) return MakeError(ErrorCode::kInternal, "cannot create " + name);
    return ScratchFolder(name);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  // With all that is in it.
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace espalier
