#include "worker/trainer/data/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace espalier::trainer {
namespace {

constexpr unsigned kUnpackedPiece = 1 << 20;

tl::unexpected<Error> Unreadable(const std::filesystem::path& path, const std::string& why) {
  return MakeError(ErrorCode::kInvalidArgument, "cannot read " + path.string() + ": " + why);
}

Result<std::string> Unpack(const std::filesystem::path& path, std::size_t bytes_max) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return Unreadable(path, std::strerror(errno));
  std::string content;
  int count = 0;
  do {
    const std::size_t size = content.size();
    content.resize(size + kUnpackedPiece);
    count = gzread(file, content.data() + size, kUnpackedPiece);
    content.resize(size + static_cast<std::size_t>(std::max(count, 0)));
  } while (count > 0 && content.size() <= bytes_max);
  const bool is_packed = gzdirect(file) == 0;
  // Says also whether the file ends too early.
  const bool is_whole = gzclose(file) == Z_OK;
  if (content.size() > bytes_max) {
    return Unreadable(path, "unpacked it is larger than " + std::to_string(bytes_max) +
                                " bytes; unpack it yourself: then it may have any size");
  }
  if (count < 0 || !is_whole || !is_packed) return Unreadable(path, "it is no whole gzip file");
  return content;
}

}  // namespace

Result<std::shared_ptr<const FileBytes>> FileBytes::Open(const std::filesystem::path& path,
                                                         std::size_t unpacked_bytes_max) {
  std::shared_ptr<FileBytes> file(new FileBytes);
  if (path.extension() == ".gz") {
    ESPALIER_ASSIGN(file->unpacked_, Unpack(path, unpacked_bytes_max));
    return file;
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Unreadable(path, std::strerror(errno));
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return Unreadable(path, "it is no file");
  }
  file->size_ = static_cast<std::size_t>(status.st_size);
  // Of an empty file nothing can be mapped.
  void* const mapped = file->size_ == 0 ? nullptr : mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd, 0);
  const int why = errno;
  close(fd);
  if (mapped == MAP_FAILED) return Unreadable(path, std::strerror(why));
  file->mapped_ = static_cast<const char*>(mapped);
  return file;
}

FileBytes::~FileBytes() {
  if (mapped_ != nullptr) munmap(const_cast<char*>(mapped_), size_);
}

}  // namespace espalier::trainer
