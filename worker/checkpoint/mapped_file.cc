#include "worker/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "worker/checkpoint/file.h"

namespace espalier {

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return SystemError("cannot read", path);
  struct stat status {};
  const bool is_plain = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = is_plain ? static_cast<std::size_t>(status.st_size) : 0;
  void* const mapped = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  Result<MappedFile> file = MappedFile(static_cast<const char*>(mapped), size);
  if (!is_plain) file = MakeError(ErrorCode::kInternal, path.string() + " is no plain file");
  if (mapped == MAP_FAILED) file = SystemError("cannot read", path);
  close(fd);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
}

}  // namespace espalier
