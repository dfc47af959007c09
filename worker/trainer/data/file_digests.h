// SHA-256 of files by their content, remembered by size and time of change, so that a large file is read once: what is
// new is written when this object goes.
// Not thread-safe; several processes may share the file in which digests are remembered.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"

namespace espalier::trainer {

class FileDigests {
 public:
  // `memory`: the file in which they are remembered; empty: nowhere. One that cannot be read or written is no fault.
  explicit FileDigests(std::filesystem::path memory);
  ~FileDigests();
  FileDigests(const FileDigests&) = delete;
  FileDigests& operator=(const FileDigests&) = delete;

  // Hexadecimal. Error: the file cannot be read.
  Result<std::string> Of(const std::filesystem::path& path);

 private:
  void Remember() const;

  std::filesystem::path memory_;
  std::map<std::string, std::string> known_;  // by size, time of change, inode and path
  bool has_new_ = false;
};

}  // namespace espalier::trainer
