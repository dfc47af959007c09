// Whole files, written durably: the system calls behind checkpoint files and the local store.
// Errors: kNotFound (no such file, reading), kResourceExhausted (no space left, over the quota), else kInternal; each
// names the file and the system's reason. Thread-safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

// The error for the current errno, said of what was tried: "cannot write PATH: No space left on device".
tl::unexpected<Error> SystemError(std::string_view attempt, const std::filesystem::path& path);

// A file that is read from its beginning on.
class InputFile {
 public:
  static Result<InputFile> Open(const std::filesystem::path& path);
  InputFile(InputFile&& other) noexcept;
  ~InputFile();

  // When it was opened, in bytes.
  std::size_t size() const { return size_; }

  // The next `count` bytes. Error: kInternal also when there are fewer.
  Result<void> Read(char* bytes, std::size_t count);

 private:
  InputFile(std::filesystem::path path, int fd, std::size_t size) : path_(std::move(path)), fd_(fd), size_(size) {}

  std::filesystem::path path_;
  int fd_;
  std::size_t size_;
};

// A file that is written from its beginning on. It is not synced: for copies.
class OutputFile {
 public:
  // Creates it, or empties it.
  static Result<OutputFile> Create(const std::filesystem::path& path);
  OutputFile(OutputFile&& other) noexcept;
  ~OutputFile();

  Result<void> Write(std::string_view bytes);

 private:
  OutputFile(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::filesystem::path path_;
  int fd_;
};

// Creates or replaces the content, one piece behind the other, and syncs it.
Result<void> WriteWholeFile(const std::filesystem::path& path, std::span<const std::string_view> pieces);

// Copies the content to `to`, created or replaced, and syncs it.
Result<void> CopyWholeFile(const std::filesystem::path& from, const std::filesystem::path& to);

Result<void> RenameFile(const std::filesystem::path& from, const std::filesystem::path& to);

// Makes the names in a folder durable; an empty path is the current folder.
Result<void> SyncFolder(const std::filesystem::path& folder);

}  // namespace espalier
