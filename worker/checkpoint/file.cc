#include "worker/checkpoint/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace espalier {
namespace {

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Owns a descriptor.
class File {
 public:
  File(const std::filesystem::path& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // Leaves the descriptor to the caller.
  int Release() { return std::exchange(fd_, -1); }

  // Up to `count` bytes; 0 at the end, negative on error.
  ssize_t Read(char* bytes, std::size_t count) {
    ssize_t got = 0;
    do {
      got = read(fd_, bytes, count);
    } while (got < 0 && errno == EINTR);
    return got;
  }

  bool Write(std::string_view bytes) { return WriteAll(fd_, bytes); }

 private:
  int fd_;
};

}  // namespace

tl::unexpected<Error> SystemError(std::string_view attempt, const std::filesystem::path& path) {
  const int reason = errno;
  ErrorCode code = ErrorCode::kInternal;
  if (reason == ENOENT || reason == ENOTDIR) code = ErrorCode::kNotFound;
  if (reason == ENOSPC || reason == EDQUOT) code = ErrorCode::kResourceExhausted;
  return MakeError(code, std::string(attempt) + " " + path.string() + ": " + std::strerror(reason));
}

Result<InputFile> InputFile::Open(const std::filesystem::path& path) {
  struct stat status {};
  File file(path, O_RDONLY);
  if (!file.is_open() || fstat(file.fd(), &status) != 0) return SystemError("cannot read", path);
  return InputFile(path, file.Release(), static_cast<std::size_t>(status.st_size));
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

Result<void> InputFile::Read(char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = read(fd_, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read", path_);
    if (got == 0) return MakeError(ErrorCode::kInternal, "cannot read " + path_.string() + ": it has become shorter");
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

Result<OutputFile> OutputFile::Create(const std::filesystem::path& path) {
  File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) return SystemError("cannot write", path);
  return OutputFile(path, file.Release());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
}

Result<void> OutputFile::Write(std::string_view bytes) {
  if (!WriteAll(fd_, bytes)) return SystemError("cannot write", path_);
  return {};
}

Result<void> WriteWholeFile(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  const auto write = [&](std::string_view piece) { return file.Write(piece); };
  if (!file.is_open() || !std::ranges::all_of(pieces, write) || fsync(file.fd()) != 0) {
    return SystemError("cannot write", path);
  }
  return {};
}

Result<void> CopyWholeFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  constexpr std::size_t kPieceLength = std::size_t{1} << 20;
  File source(from, O_RDONLY);
  if (!source.is_open()) return SystemError("cannot read", from);
  File copy(to, O_WRONLY | O_CREAT | O_TRUNC);
  if (!copy.is_open()) return SystemError("cannot write", to);
  std::vector<char> piece(kPieceLength);
  for (;;) {
    const ssize_t got = source.Read(piece.data(), piece.size());
    if (got < 0) return SystemError("cannot read", from);
    if (got == 0) break;
    if (!copy.Write({piece.data(), static_cast<std::size_t>(got)})) return SystemError("cannot write", to);
  }
  if (fsync(copy.fd()) != 0) return SystemError("cannot write", to);
  return {};
}

Result<void> RenameFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return SystemError("cannot rename to", to);
  return {};
}

Result<void> SyncFolder(const std::filesystem::path& folder) {
  const File file(folder.empty() ? std::filesystem::path(".") : folder, O_RDONLY | O_DIRECTORY);
  if (!file.is_open() || fsync(file.fd()) != 0) return SystemError("cannot sync the folder", folder);
  return {};
}

}  // namespace espalier
