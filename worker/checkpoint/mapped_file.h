// A file's content as memory, which the system reads when it is looked at and may drop again: large files are read so
// without being held.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace espalier {

// Invariant: the file is not cut while this lives. Thread-safe.
class MappedFile {
 public:
  // Errors: kNotFound, kInternal, naming the file and the system's reason; also of what is no plain file.
  static Result<MappedFile> Open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {bytes_, size_}; }

 private:
  MappedFile(const char* bytes, std::size_t size) : bytes_(bytes), size_(size) {}

  const char* bytes_;
  std::size_t size_;
};

}  // namespace espalier
