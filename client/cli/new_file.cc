#include "client/cli/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace espalier {
namespace {

std::string Reason(int error) { return std::generic_category().message(error); }

tl::unexpected<Error> IsThere(const std::string& path, const std::string& option) {
  return MakeError(ErrorCode::kAlreadyExists, path + " is there already; remove it, or name another", option);
}

}  // namespace

Result<NewFile> NewFile::Create(const std::string& path, const std::string& option) {
  if (faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return IsThere(path, option);
  std::string temporary = path + ".part-" + std::to_string(getpid());
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    return MakeError(ErrorCode::kInvalidArgument, "cannot make " + temporary + ": " + Reason(errno), option);
  }
  close(file);
  return NewFile(path, std::move(temporary), option);
}

NewFile::NewFile(std::string path, std::string temporary, std::string option)
    : path_(std::move(path)), temporary_(std::move(temporary)), option_(std::move(option)), stream_(temporary_) {}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      option_(std::move(other.option_)),
      stream_(std::move(other.stream_)) {}

NewFile::~NewFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<void> NewFile::Keep() {
  stream_.close();
  if (!stream_) return MakeError(ErrorCode::kInternal, "cannot write " + path_ + "; is its disk full?", option_);
  // Unlike a renaming, this leaves alone what somebody else has put there meanwhile.
  if (link(temporary_.c_str(), path_.c_str()) == 0) return {};
  if (errno == EEXIST) return IsThere(path_, option_);
  if (rename(temporary_.c_str(), path_.c_str()) == 0) return {};  // on file systems without links
  return MakeError(ErrorCode::kInternal, "cannot make " + path_ + ": " + Reason(errno), option_);
}

}  // namespace espalier
