// A folder of a command's own, for as long as it runs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"

namespace espalier {

class TemporaryFolder {
 public:
  // Error: kInternal when the system gives none.
  static Result<TemporaryFolder> Create() {
    std::error_code error;
    std::string name = std::filesystem::temp_directory_path(error) / "espalier-XXXXXX";
    if (error || mkdtemp(name.data()) == nullptr) return MakeError(ErrorCode::kInternal, "cannot create " + name);
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  // With all that is in it.
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace espalier
