#include "worker/checkpoint/local_checkpoint_store.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/failpoint.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/checkpoint/file.h"

namespace espalier {
namespace {

Result<std::filesystem::path> PathOf(const std::filesystem::path& folder, std::string_view name) {
  ESPALIER_RETURN_IF_ERROR(CheckStoreName(name));
  return folder / name;
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

Time TimeOf(const timespec& time) {
  return Time(std::chrono::seconds(time.tv_sec) +
              std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(time.tv_nsec)));
}

// Of what the system refused within the store: whatever it is, it may pass, and says nothing of any file.
tl::unexpected<Error> AwayOrFull(Error error) {
  if (error.code != ErrorCode::kResourceExhausted) error.code = ErrorCode::kUnavailable;
  return tl::unexpected<Error>(std::move(error));
}

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
  if (access((folder / kStoreSign).c_str(), F_OK) == 0) return {};
  ESPALIER_RETURN_IF_ERROR(WriteWholeFile(folder / kStoreSign, std::array{kStoreSignText}));
  return SyncFolder(folder);
}

LocalCheckpointStore::LocalCheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

Result<void> LocalCheckpointStore::CheckIsThere() const {
  if (access((folder_ / kStoreSign).c_str(), F_OK) == 0) return {};
  return Away(SystemError("cannot find the checkpoint store", folder_ / kStoreSign).value());
}

Result<void> LocalCheckpointStore::Put(const std::filesystem::path& staged, std::string_view name) {
  ESPALIER_ASSIGN(const std::filesystem::path path, PathOf(folder_, name));
  const auto held = names_.Hold(name);
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  names_.ForgetOwedRemoval(name);
  const Result<void> put = PutFile(staged, path, folder_);
  if (put.has_value()) return {};
  const bool is_staged = access(staged.c_str(), F_OK) == 0 || errno != ENOENT;
  if (!is_staged) return MakeError(ErrorCode::kNotFound, "there is no staged file " + staged.string());
  return AwayOrFull(put.error());
}

Result<PinnedFile> LocalCheckpointStore::Fetch(std::string_view name) {
  ESPALIER_ASSIGN(const std::filesystem::path path, PathOf(folder_, name));
  const auto held = names_.Hold(name);
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return MakeError(ErrorCode::kNotFound, path.string() + " is not a file");
    names_.Pin(name);
    return PinnedFile(path, [this, name = std::string(name)] { Release(name); });
  }
  Error error = SystemError("cannot find", path).value();
  if (error.code != ErrorCode::kNotFound) return Away(std::move(error));
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());  // it may have gone meanwhile, and the file with it
  return tl::unexpected<Error>(std::move(error));
}

// A removal that fails now leaves a file that nobody names, as one that is never asked for does.
void LocalCheckpointStore::Release(const std::string& name) {
  const auto held = names_.Hold(name);
  if (names_.Unpin(name) && names_.ForgetOwedRemoval(name)) static_cast<void>(RemoveNow(folder_ / name));
}

Result<void> LocalCheckpointStore::Remove(std::string_view name) {
  ESPALIER_ASSIGN(const std::filesystem::path path, PathOf(folder_, name));
  const auto held = names_.Hold(name);
  if (!names_.IsPinned(name)) return RemoveNow(path);
  names_.OweRemoval(name);
  return {};
}

Result<void> LocalCheckpointStore::RemoveNow(const std::filesystem::path& path) {
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  const bool removed = unlink(path.c_str()) == 0;
  if (!removed && errno != ENOENT && errno != ENOTDIR) return Away(SystemError("cannot remove", path).value());
  if (!removed) return CheckIsThere();
  const Result<void> synced = SyncFolder(path.parent_path());
  return synced.has_value() ? Result<void>() : Away(synced.error());
}

Result<std::vector<ListedFile>> LocalCheckpointStore::List() {
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  std::vector<ListedFile> files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder_, error);
  const std::filesystem::recursive_directory_iterator end;
  for (; !error && entry != end; entry.increment(error)) {
    ListedFile file{.name = entry->path().lexically_relative(folder_).generic_string()};
    struct stat status {};
    // Removed since it was listed: not there.
    if (!CheckStoreName(file.name).has_value() || stat(entry->path().c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    file.bytes = status.st_size;
    file.written_at = TimeOf(status.st_mtim);
    files.push_back(std::move(file));
  }
  if (error) return MakeError(ErrorCode::kUnavailable, "cannot list " + folder_.string() + ": " + error.message());
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  std::ranges::sort(files, {}, &ListedFile::name);
  return files;
}

Result<StoreSpace> LocalCheckpointStore::Space() {
  ESPALIER_RETURN_IF_ERROR(CheckIsThere());
  struct statvfs status {};
  if (statvfs(folder_.c_str(), &status) != 0) return Away(SystemError("cannot ask for the space of", folder_).value());
  const auto block = static_cast<std::int64_t>(status.f_frsize);
  return StoreSpace{block * static_cast<std::int64_t>(status.f_blocks),
                    block * static_cast<std::int64_t>(status.f_bavail)};
}

}  // namespace espalier
