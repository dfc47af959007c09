#include "client/cli/up/data_directory.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/digest.h"
#include "client/cli/up/files.h"
#include "client/cli/up/process_record.h"
#include "client/cli/up/system_error.h"

namespace espalier {
namespace {

std::string RuntimePathOf(const std::string& path) {
  return "/tmp/espalier-" + std::to_string(geteuid()) + "-" + ToHex(DigestOf(path)).substr(0, 16);
}

// Anybody may write into /tmp: what is there must be a folder of ours that nobody else can enter.
Result<void> MakeRuntimeDirectory(const std::string& path) {
  ESPALIER_RETURN_IF_ERROR(MakeDirectory(path));
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return SystemError("examine " + path);
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 0077) != 0) {
    return MakeError(ErrorCode::kFailedPrecondition, path + " is not a private directory of this user: remove it");
  }
  return {};
}

void RemoveContents(const std::string& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

Result<DataDirectory> DataDirectory::Open(const std::string& path) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(path, error);
  const std::string real = error ? "" : std::filesystem::canonical(path, error).string();
  if (error) return MakeError(ErrorCode::kInternal, "cannot make directory " + path + ": " + error.message());
  if (is_new) chmod(real.c_str(), 0700);
  ESPALIER_ASSIGN(FileDescriptor lock, OpenDirectory(real));
  if (flock(lock.Get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemError("lock " + real);
    const auto holder = ReadProcessRecord(OwnerFile(real));
    return MakeError(ErrorCode::kFailedPrecondition,
                     real + " is in use by another `espalier up`" +
                         (holder.has_value() ? ", process " + std::to_string(holder->id) : "") +
                         ": stop it with `espalier down`, or give another --data");
  }
  for (const char* name : {"/config", "/checkpoints", "/node", "/logs", "/run"}) {
    ESPALIER_RETURN_IF_ERROR(MakeDirectory(real + name));
  }
  std::string runtime_path = RuntimePathOf(real);
  ESPALIER_RETURN_IF_ERROR(MakeRuntimeDirectory(runtime_path));
  RemoveContents(runtime_path);
  unlink((real + "/address").c_str());
  return DataDirectory(real, std::move(runtime_path), std::move(lock));
}

Result<void> DataDirectory::WriteOwner() const {
  return WriteProcessRecord(OwnerFile(path_), RecordOf(getpid()).value_or(ProcessRecord{.id = getpid()}));
}

Result<void> DataDirectory::WriteAddress(const std::string& address) const {
  return WriteFile(File("address"), address + "\n");
}

Result<void> DataDirectory::LinkToken() const {
  const std::string link = runtime_path_ + "/token";
  if (symlink(TokenFile().c_str(), link.c_str()) != 0) return SystemError("make link " + link);
  return {};
}

void DataDirectory::Clear() const {
  unlink(File("address").c_str());
  RemoveContents(runtime_path_);
  rmdir(runtime_path_.c_str());
  unlink(OwnerFile(path_).c_str());
}

std::string OwnerFile(const std::string& data_directory) { return data_directory + "/up.pid"; }

}  // namespace espalier
