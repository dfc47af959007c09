#include "worker/checkpoint/gluster/gluster_checkpoint_store.h"

#include <fcntl.h>
#include <glusterfs/api/glfs.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/checkpoint/file.h"

namespace espalier {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr const char* kStandardError = "-";  // as libgfapi names it
constexpr int kLogErrors = 4;                // as it counts

struct CloseFile {
  void operator()(glfs_fd_t* file) const { glfs_close(file); }
};
struct CloseFolder {
  void operator()(glfs_fd_t* folder) const { glfs_closedir(folder); }
};
using OpenFile = std::unique_ptr<glfs_fd_t, CloseFile>;
using OpenFolder = std::unique_ptr<glfs_fd_t, CloseFolder>;

// Whatever the volume refuses, it may pass, and says nothing of any file; only that there is none of that name does.
tl::unexpected<Error> VolumeError(std::string_view attempt, const std::string& path) {
  const int reason = errno;
  const bool is_absent = reason == ENOENT || reason == ENOTDIR;
  const bool is_full = reason == ENOSPC || reason == EDQUOT;
  const ErrorCode code = is_full ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable;
  return MakeError(is_absent ? ErrorCode::kNotFound : code,
                   std::string(attempt) + " " + path + " in the GlusterFS volume: " + std::strerror(reason));
}

tl::unexpected<Error> Away(Error error) {
  error.code = ErrorCode::kUnavailable;
  return tl::unexpected<Error>(std::move(error));
}

Time TimeOf(const timespec& time) {
  return Time(std::chrono::seconds(time.tv_sec) +
              std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(time.tv_nsec)));
}

// libgfapi waits for half an hour, or for ever, for a server that takes the call and says nothing: it is given up
// after so long, and twice as long each time that this happens.
constexpr std::chrono::seconds kFirstPatience{20};
constexpr int kDoublingsMax = 5;

// The names of the servers, asked in this order. Errors: kUnavailable.
Result<glfs_t*> Connect(const std::vector<GlusterServer>& servers, const std::string& name) {
  glfs_t* const volume = glfs_new(name.c_str());
  const auto add = [&](const GlusterServer& server) {
    return glfs_set_volfile_server(volume, "tcp", server.host.c_str(), server.port) == 0;
  };
  const bool is_there = volume != nullptr && std::ranges::all_of(servers, add) &&
                        glfs_set_logging(volume, kStandardError, kLogErrors) == 0 && glfs_init(volume) == 0;
  if (is_there) return volume;
  const std::string reason = std::strerror(errno);
  if (volume != nullptr) glfs_fini(volume);
  return MakeError(ErrorCode::kUnavailable, reason);
}

// One volume's connection. It is never closed: libgfapi takes ten seconds for that, and whatever was written is synced.
class Connection {
 public:
  // Error: kUnavailable.
  Result<glfs_t*> To(const GlusterLocation& location) {
    const std::lock_guard lock(mutex_);
    if (volume_ != nullptr) return volume_;
    Result<glfs_t*> volume = Try(location);
    ++tries_;
    if (!volume.has_value()) {
      return MakeError(ErrorCode::kUnavailable, "cannot reach the GlusterFS volume " + location.volume + " of " +
                                                    location.servers.front().host + ": " + volume.error().message);
    }
    volume_ = *volume;
    return volume_;
  }

 private:
  // In a thread of its own, which is left to itself when it takes too long. Each try begins with another server.
  Result<glfs_t*> Try(const GlusterLocation& location) {
    std::vector<GlusterServer> servers = location.servers;
    std::rotate(servers.begin(), servers.begin() + tries_ % static_cast<std::ptrdiff_t>(servers.size()), servers.end());
    std::packaged_task<Result<glfs_t*>()> connect([servers, name = location.volume] { return Connect(servers, name); });
    std::future<Result<glfs_t*>> connected = connect.get_future();
    std::thread(std::move(connect)).detach();
    const auto patience = kFirstPatience * (1 << std::min(given_up_, kDoublingsMax));
    if (connected.wait_for(patience) == std::future_status::ready) return connected.get();
    ++given_up_;
    return MakeError(ErrorCode::kUnavailable, "no answer for " + std::to_string(patience.count()) + " s");
  }

  std::mutex mutex_;
  glfs_t* volume_ = nullptr;
  int tries_ = 0;
  int given_up_ = 0;  // of these
};

Result<glfs_t*> ConnectionTo(const GlusterLocation& location) {
  using Volume = std::pair<std::vector<GlusterServer>, std::string>;
  static std::mutex mutex;
  static std::map<Volume, Connection> connections;
  Connection& connection = [&]() -> Connection& {
    const std::lock_guard lock(mutex);
    return connections[{location.servers, location.volume}];
  }();
  return connection.To(location);
}

}  // namespace

// The volume, with paths relative to the store's folder. Errors: kNotFound, kUnavailable. Thread-safe.
class GlusterCheckpointStore::Volume {
 public:
  explicit Volume(GlusterLocation location) : location_(std::move(location)) {}

  Result<void> Create();
  // The store's sign is there. Error: kUnavailable.
  Result<void> CheckIsThere();

  Result<struct stat> Stat(std::string_view name);
  // Creates or replaces the content, and syncs it. `next` gives a piece, or nothing at the end.
  Result<void> Write(std::string_view name, const std::function<Result<std::string_view>()>& next);
  Result<void> Read(std::string_view name, const std::function<Result<void>(std::string_view)>& take);
  Result<void> Rename(std::string_view from, std::string_view to);
  Result<void> Remove(std::string_view name);
  Result<void> MakeFolders(const std::filesystem::path& folder);
  // Calls `found` with each file in the folder and below it.
  Result<void> Walk(const std::string& folder,
                    const std::function<void(const std::string&, const struct stat&)>& found);
  Result<StoreSpace> Space();

 private:
  std::string PathOf(std::string_view name) const { return location_.path + "/" + std::string(name); }

  const GlusterLocation location_;
};

Result<struct stat> GlusterCheckpointStore::Volume::Stat(std::string_view name) {
  ESPALIER_ASSIGN(glfs_t* const volume, ConnectionTo(location_));
  struct stat status {};
  if (glfs_stat(volume, PathOf(name).c_str(), &status) != 0) return VolumeError("cannot find", PathOf(name));
  return status;
}

Result<void> GlusterCheckpointStore::Volume::CheckIsThere() {
  const Result<struct stat> sign = Stat(kStoreSign);
  if (sign.has_value()) return {};
  return Away(sign.error());
}

Result<void> GlusterCheckpointStore::Volume::MakeFolders(const std::filesystem::path& folder) {
  if (folder.empty() || folder == "/") return {};
  ESPALIER_ASSIGN(glfs_t* const volume, ConnectionTo(location_));
  if (glfs_mkdir(volume, folder.c_str(), 0755) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return VolumeError("cannot create the folder", folder.string());
  ESPALIER_RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  if (glfs_mkdir(volume, folder.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return VolumeError("cannot create the folder", folder.string());
}

Result<void> GlusterCheckpointStore::Volume::Create() {
  ESPALIER_RETURN_IF_ERROR(MakeFolders(location_.path));
  if (CheckIsThere().has_value()) return {};
  std::string_view text = kStoreSignText;
  return Write(kStoreSign, [&]() -> Result<std::string_view> { return std::exchange(text, std::string_view()); });
}

Result<void> GlusterCheckpointStore::Volume::Write(std::string_view name,
                                                   const std::function<Result<std::string_view>()>& next) {
  ESPALIER_ASSIGN(glfs_t* const volume, ConnectionTo(location_));
  const std::string path = PathOf(name);
  const auto create = [&] { return OpenFile(glfs_creat(volume, path.c_str(), O_WRONLY | O_TRUNC, 0644)); };
  OpenFile file = create();
  if (file == nullptr && errno == ENOENT) {
    ESPALIER_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path()));
    file = create();
  }
  if (file == nullptr) return VolumeError("cannot write", path);
  while (true) {
    ESPALIER_ASSIGN(std::string_view piece, next());
    if (piece.empty()) break;
    while (!piece.empty()) {
      const ssize_t written = glfs_write(file.get(), piece.data(), piece.size(), 0);
      if (written <= 0) return VolumeError("cannot write", path);
      piece.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  // Writes are acknowledged before they reach the bricks: what has failed since is told here.
  if (glfs_fsync(file.get(), nullptr, nullptr) != 0 || glfs_close(file.release()) != 0) {
    return VolumeError("cannot write", path);
  }
  return {};
}

Result<void> GlusterCheckpointStore::Volume::Read(std::string_view name,
                                                  const std::function<Result<void>(std::string_view)>& take) {
  ESPALIER_ASSIGN(glfs_t* const volume, ConnectionTo(location_));
  const std::string path = PathOf(name);
  const OpenFile file(glfs_open(volume, path.c_str(), O_RDONLY));
  if (file == nullptr) return VolumeError("cannot read", path);
  std::string piece(kPieceBytes, '\0');
  while (true) {
    const ssize_t got = glfs_read(file.get(), piece.data(), piece.size(), 0);
    if (got < 0) return VolumeError("cannot read", path);
    if (got == 0) return {};
    ESPALIER_RETURN_IF_ERROR(take(std::string_view(piece).substr(0, static_cast<std::size_t>(got))));
  }
}

Result<void> GlusterCheckpointStore::Volume::Rename(std::string_view from, std::string_view to) {
  ESPALIER_ASSIGN(glfs_t* const volume, ConnectionTo(location_));
  if (glfs_rename(volume, PathOf(from).c_str(), PathOf(to).c_str()) == 0) return {};
  return VolumeError("cannot rename to", PathOf(to));
}

Result<void> GlusterCheckpointStore::Volume::Remove(std::string_view name) {
  ESPALIER_ASSIGN(glfs_t* const volume, ConnectionTo(location_));
  if (glfs_unlink(volume, PathOf(name).c_str()) == 0) return {};
  return VolumeError("cannot remove", PathOf(name));
}

Result<void> GlusterCheckpointStore::Volume::Walk(
    const std::string& folder, const std::function<void(const std::string&, const struct stat&)>& found) {
  ESPALIER_ASSIGN(glfs_t* const volume, ConnectionTo(location_));
  const OpenFolder entries(glfs_opendir(volume, PathOf(folder).c_str()));
  if (entries == nullptr) return VolumeError("cannot list", PathOf(folder));
  while (true) {
    struct stat status {};
    errno = 0;
    const dirent* entry = glfs_readdirplus(entries.get(), &status);
    if (entry == nullptr && errno != 0) return VolumeError("cannot list", PathOf(folder));
    if (entry == nullptr) return {};
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string path = folder.empty() ? std::string(name) : folder + "/" + std::string(name);
    if (S_ISDIR(status.st_mode)) {
      ESPALIER_RETURN_IF_ERROR(Walk(path, found));
    } else if (S_ISREG(status.st_mode)) {
      found(path, status);
    }
  }
}

Result<StoreSpace> GlusterCheckpointStore::Volume::Space() {
  ESPALIER_ASSIGN(glfs_t* const volume, ConnectionTo(location_));
  struct statvfs status {};
  if (glfs_statvfs(volume, location_.path.c_str(), &status) != 0) {
    return VolumeError("cannot ask for the space of", location_.path);
  }
  const auto block = static_cast<std::int64_t>(status.f_frsize);
  return StoreSpace{block * static_cast<std::int64_t>(status.f_blocks),
                    block * static_cast<std::int64_t>(status.f_bavail)};
}

GlusterCheckpointStore::GlusterCheckpointStore(GlusterLocation location, std::filesystem::path copies)
    : copies_(std::move(copies)), volume_(std::make_unique<Volume>(std::move(location))) {}

GlusterCheckpointStore::~GlusterCheckpointStore() = default;

Result<void> GlusterCheckpointStore::Create(const GlusterLocation& location) {
  const Result<void> created = Volume(location).Create();
  return created.has_value() ? created : Away(created.error());
}

// Flat: a name may have folders.
std::filesystem::path GlusterCheckpointStore::CopyOf(std::string_view name) const {
  return copies_ / ToHex(DigestOf(name));
}

Result<void> GlusterCheckpointStore::Put(const std::filesystem::path& staged, std::string_view name) {
  ESPALIER_RETURN_IF_ERROR(CheckStoreName(name));
  const auto held = names_.Hold(name);
  ESPALIER_RETURN_IF_ERROR(volume_->CheckIsThere());
  Result<InputFile> file = InputFile::Open(staged);
  if (!file.has_value()) {
    if (file.error().code == ErrorCode::kNotFound) return tl::unexpected<Error>(file.error());
    return Away(file.error());
  }
  std::string piece;
  std::size_t left = file->size();
  const auto next = [&]() -> Result<std::string_view> {
    piece.resize(std::min(left, kPieceBytes));
    ESPALIER_RETURN_IF_ERROR(file->Read(piece.data(), piece.size()));
    left -= piece.size();
    return std::string_view(piece);
  };
  const std::string temporary = std::string(name) + std::string(kTemporarySuffix);
  Result<void> put = volume_->Write(temporary, next);
  if (put.has_value()) put = volume_->Rename(temporary, name);
  if (put.has_value()) return {};
  static_cast<void>(volume_->Remove(temporary));
  return put.error().code == ErrorCode::kResourceExhausted ? put : Away(put.error());
}

Result<PinnedFile> GlusterCheckpointStore::Fetch(std::string_view name) {
  ESPALIER_RETURN_IF_ERROR(CheckStoreName(name));
  const auto held = names_.Hold(name);
  const std::filesystem::path copy = CopyOf(name);
  ESPALIER_RETURN_IF_ERROR(volume_->CheckIsThere());
  const Result<struct stat> status = volume_->Stat(name);
  if (status.has_value() && !S_ISREG(status->st_mode)) {
    return MakeError(ErrorCode::kNotFound, std::string(name) + " is not a file");
  }
  if (!status.has_value()) {
    if (status.error().code == ErrorCode::kNotFound) ESPALIER_RETURN_IF_ERROR(volume_->CheckIsThere());
    return tl::unexpected<Error>(status.error());
  }
  if (!names_.IsPinned(name)) {
    Result<OutputFile> file = OutputFile::Create(copy);
    if (!file.has_value()) return Away(file.error());
    const Result<void> read = volume_->Read(name, [&](std::string_view piece) { return file->Write(piece); });
    if (!read.has_value()) {
      std::error_code error;
      std::filesystem::remove(copy, error);
      return Away(read.error());
    }
  }
  names_.Pin(name);
  return PinnedFile(copy, [this, held_name = std::string(name)] { Release(held_name); });
}

void GlusterCheckpointStore::Release(const std::string& name) {
  const auto held = names_.Hold(name);
  std::error_code error;  // what stays is taken away at the next start
  if (names_.Unpin(name)) std::filesystem::remove(CopyOf(name), error);
}

Result<void> GlusterCheckpointStore::Remove(std::string_view name) {
  ESPALIER_RETURN_IF_ERROR(CheckStoreName(name));
  const auto held = names_.Hold(name);
  ESPALIER_RETURN_IF_ERROR(volume_->CheckIsThere());
  const Result<void> removed = volume_->Remove(name);
  if (removed.has_value()) return {};
  return removed.error().code == ErrorCode::kNotFound ? volume_->CheckIsThere() : Away(removed.error());
}

Result<std::vector<ListedFile>> GlusterCheckpointStore::List() {
  ESPALIER_RETURN_IF_ERROR(volume_->CheckIsThere());
  std::vector<ListedFile> files;
  const Result<void> walked = volume_->Walk("", [&](const std::string& name, const struct stat& status) {
    if (CheckStoreName(name).has_value()) files.push_back({name, status.st_size, TimeOf(status.st_mtim)});
  });
  if (!walked.has_value()) return Away(walked.error());
  std::ranges::sort(files, {}, &ListedFile::name);
  return files;
}

Result<StoreSpace> GlusterCheckpointStore::Space() {
  ESPALIER_RETURN_IF_ERROR(volume_->CheckIsThere());
  const Result<StoreSpace> space = volume_->Space();
  return space.has_value() ? space : Away(space.error());
}

}  // namespace espalier
