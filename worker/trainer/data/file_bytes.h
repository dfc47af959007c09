// A file's content: mapped into memory, so that only what is used is read; of one whose name ends in .gz, unpacked into
// memory, up to a bound. Constant; any thread may read it. A file must not be changed while it is used.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::trainer {

// What a packed file may become in memory.
inline constexpr std::size_t kUnpackedBytesMax = std::size_t{4} << 30;

class FileBytes {
 public:
  // Error: it cannot be read, is no gzip file although it is named so, or becomes larger than that.
  static Result<std::shared_ptr<const FileBytes>> Open(const std::filesystem::path& path,
                                                       std::size_t unpacked_bytes_max = kUnpackedBytesMax);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::string_view bytes() const { return mapped_ != nullptr ? std::string_view(mapped_, size_) : unpacked_; }

 private:
  FileBytes() = default;

  const char* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::string unpacked_;
};

}  // namespace espalier::trainer
