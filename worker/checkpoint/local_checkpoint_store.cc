#include "worker/checkpoint/local_checkpoint_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/failpoint.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/checkpoint/file.h"

namespace espalier {
namespace {

Result<std::filesystem::path> PathOf(const std::filesystem::path& folder, std::string_view name) {
  const std::filesystem::path relative(name);
  const bool leads_out = std::ranges::any_of(relative, [](const auto& part) { return part == ".." || part == "."; });
  if (!relative.has_filename() || relative.is_absolute() || leads_out || name.ends_with(kTemporarySuffix)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "'" + std::string(name) + "' cannot name a checkpoint: a relative path is expected");
  }
  return folder / relative;
}

// Creates a folder and those above it, each durable in the one above.
Result<void> CreateFolder(const std::filesystem::path& folder) {
  if (folder.empty() || std::filesystem::is_directory(folder)) return {};
  ESPALIER_RETURN_IF_ERROR(CreateFolder(folder.parent_path()));
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return SystemError("cannot create the folder", folder);
  return SyncFolder(folder.parent_path());
}

Result<void> LinkOrCopy(const std::filesystem::path& staged, const std::filesystem::path& temporary) {
  if (unlink(temporary.c_str()) != 0 && errno != ENOENT) return SystemError("cannot remove", temporary);
  if (link(staged.c_str(), temporary.c_str()) == 0) return {};
  const bool cannot_link = errno == EXDEV || errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK;
  if (!cannot_link) return SystemError("cannot link to", staged);
  return CopyWholeFile(staged, temporary);
}

Result<void> PutFile(const std::filesystem::path& staged, const std::filesystem::path& path) {
  ESPALIER_RETURN_IF_ERROR(CreateFolder(path.parent_path()));
  std::filesystem::path temporary = path;
  temporary += kTemporarySuffix;
  Result<void> put = LinkOrCopy(staged, temporary);
  if (put.has_value()) {
    ESPALIER_FAILPOINT("checkpoint.put.before_rename");
    put = RenameFile(temporary, path);
  }
  // Also after success: renaming a link to another link of the same file does nothing and leaves both.
  if (unlink(temporary.c_str()) != 0 && errno != ENOENT && put.has_value()) {
    put = SystemError("cannot remove", temporary);
  }
  ESPALIER_RETURN_IF_ERROR(put);
  return SyncFolder(path.parent_path());
}

}  // namespace

LocalCheckpointStore::LocalCheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

Result<void> LocalCheckpointStore::Put(const std::filesystem::path& staged, std::string_view name) {
  ESPALIER_ASSIGN(const std::filesystem::path path, PathOf(folder_, name));
  const std::lock_guard lock(mutex_);
  Result<void> put = PutFile(staged, path);
  if (!put.has_value() && put.error().code == ErrorCode::kNotFound) put.error().code = ErrorCode::kInternal;
  return put;
}

Result<std::filesystem::path> LocalCheckpointStore::Fetch(std::string_view name) {
  ESPALIER_ASSIGN(std::filesystem::path path, PathOf(folder_, name));
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return SystemError("cannot find", path);
  if (!S_ISREG(status.st_mode)) return MakeError(ErrorCode::kNotFound, path.string() + " is not a file");
  return path;
}

Result<void> LocalCheckpointStore::Remove(std::string_view name) {
  ESPALIER_ASSIGN(const std::filesystem::path path, PathOf(folder_, name));
  const std::lock_guard lock(mutex_);
  if (unlink(path.c_str()) == 0) return SyncFolder(path.parent_path());
  if (errno == ENOENT || errno == ENOTDIR) return {};
  return SystemError("cannot remove", path);
}

Result<std::vector<std::string>> LocalCheckpointStore::List() {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder_, error);
  const std::filesystem::recursive_directory_iterator end;
  if (error == std::errc::no_such_file_or_directory) return names;
  for (; !error && entry != end; entry.increment(error)) {
    std::error_code gone;  // removed since it was listed: not there
    if (!entry->is_regular_file(gone)) continue;
    std::string name = entry->path().lexically_relative(folder_).generic_string();
    if (!name.ends_with(kTemporarySuffix)) names.push_back(std::move(name));
  }
  if (error) return MakeError(ErrorCode::kInternal, "cannot list " + folder_.string() + ": " + error.message());
  std::ranges::sort(names);
  return names;
}

}  // namespace espalier
