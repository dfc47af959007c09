#include "worker/checkpoint/local_checkpoint_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/failpoint.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/checkpoint/file.h"

namespace espalier {
namespace {

constexpr char kSign[] = ".espalier-store";
constexpr std::string_view kSignText =
    "An Espalier checkpoint store. Where this file is not, nothing is stored: the folder may not be mounted.\n";

Result<std::filesystem::path> PathOf(const std::filesystem::path& folder, std::string_view name) {
  const std::filesystem::path relative(name);
  const bool leads_out = std::ranges::any_of(relative, [](const auto& part) { return part == ".." || part == "."; });
  if (!relative.has_filename() || relative.is_absolute() || leads_out || name.ends_with(kTemporarySuffix) ||
      name == kSign) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "'" + std::string(name) + "' cannot name a checkpoint: a relative path is expected");
  }
  return folder / relative;
}

// Creates a folder and those between it and `root`, each durable in the one above. The root itself is not created; an
// empty one is the file system's.
Result<void> CreateFolder(const std::filesystem::path& folder, const std::filesystem::path& root) {
  std::error_code error;
  if (folder.empty() || folder == root || std::filesystem::is_directory(folder, error)) return {};
  ESPALIER_RETURN_IF_ERROR(CreateFolder(folder.parent_path(), root));
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

// Of what the system refused within the store: whatever it is, it may pass, and says nothing of any file.
tl::unexpected<Error> Away(Error error) {
  error.code = ErrorCode::kUnavailable;
  return tl::unexpected<Error>(std::move(error));
}

// For what no link can do: another file system, or a file of that name is there.
Result<void> PutByRename(const std::filesystem::path& staged, const std::filesystem::path& path) {
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
  return put;
}

Result<void> PutFile(const std::filesystem::path& staged, const std::filesystem::path& path,
                     const std::filesystem::path& root) {
  const auto link_it = [&] { return link(staged.c_str(), path.c_str()) == 0; };
  bool linked = link_it();
  if (!linked && errno == ENOENT) {
    ESPALIER_RETURN_IF_ERROR(CreateFolder(path.parent_path(), root));
    linked = link_it();
  }
  if (!linked) ESPALIER_RETURN_IF_ERROR(PutByRename(staged, path));
  return SyncFolder(path.parent_path());
}

}  // namespace

Result<void> LocalCheckpointStore::Create(const std::filesystem::path& folder) {
  ESPALIER_RETURN_IF_ERROR(CreateFolder(folder, {}));
  if (access((folder / kSign).c_str(), F_OK) == 0) return {};
  ESPALIER_RETURN_IF_ERROR(WriteWholeFile(folder / kSign, std::array{kSignText}));
  return SyncFolder(folder);
}

LocalCheckpointStore::LocalCheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

Result<void> LocalCheckpointStore::CheckIsThere() const {
  if (access((folder_ / kSign).c_str(), F_OK) == 0) return {};
  return Away(SystemError("cannot find the checkpoint store", folder_ / kSign).value());
}

Result<void> LocalCheckpointStore::Put(const std::filesystem::path& staged, std::string_view name) {
  ESPALIER_ASSIGN(const std::filesystem::path path, PathOf(folder_, name));
  const std::lock_guard lock(mutex_);
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  const Result<void> put = PutFile(staged, path, folder_);
  if (put.has_value()) return {};
  const bool is_staged = access(staged.c_str(), F_OK) == 0 || errno != ENOENT;
  if (!is_staged) return MakeError(ErrorCode::kNotFound, "there is no staged file " + staged.string());
  return Away(put.error());
}

Result<std::filesystem::path> LocalCheckpointStore::Fetch(std::string_view name) {
  ESPALIER_ASSIGN(std::filesystem::path path, PathOf(folder_, name));
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISREG(status.st_mode)) return path;
    return MakeError(ErrorCode::kNotFound, path.string() + " is not a file");
  }
  Error error = SystemError("cannot find", path).value();
  if (error.code != ErrorCode::kNotFound) return Away(std::move(error));
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());  // it may have gone meanwhile, and the file with it
  return tl::unexpected<Error>(std::move(error));
}

Result<void> LocalCheckpointStore::Remove(std::string_view name) {
  ESPALIER_ASSIGN(const std::filesystem::path path, PathOf(folder_, name));
  const std::lock_guard lock(mutex_);
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  const bool removed = unlink(path.c_str()) == 0;
  if (!removed && errno != ENOENT && errno != ENOTDIR) return Away(SystemError("cannot remove", path).value());
  if (!removed) return CheckIsThere();
  const Result<void> synced = SyncFolder(path.parent_path());
  return synced.has_value() ? Result<void>() : Away(synced.error());
}

Result<std::vector<std::string>> LocalCheckpointStore::List() {
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder_, error);
  const std::filesystem::recursive_directory_iterator end;
  for (; !error && entry != end; entry.increment(error)) {
    std::error_code gone;  // removed since it was listed: not there
    if (!entry->is_regular_file(gone)) continue;
    std::string name = entry->path().lexically_relative(folder_).generic_string();
    if (!name.ends_with(kTemporarySuffix) && name != kSign) names.push_back(std::move(name));
  }
  if (error) return MakeError(ErrorCode::kUnavailable, "cannot list " + folder_.string() + ": " + error.message());
  std::ranges::sort(names);
  return names;
}

}  // namespace espalier
