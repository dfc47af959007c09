// Where checkpoints live: a place that all servers see. Files are named once and never changed.
// A store that cannot be reached, or gives errors, is *away*, which says nothing of any file: kUnavailable, with the
// system's reason; wait and try again. So is one that has no room for a file: kResourceExhausted, of Put alone. Every
// other error is final: of a file that is not there, or a name that is none. Thread-safe: any thread may call, several
// at once; calls with one name follow each other. A call may take as long as the store's medium does: it is made on a
// thread that can wait.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace espalier {

// A file of a store that is kept readable here as long as this lives, whatever is removed from the store meanwhile.
// REQUIRES: the store lives longer.
class PinnedFile {
 public:
  // `release` is called once.
  PinnedFile(std::filesystem::path path, std::function<void()> release)
      : path_(std::move(path)), release_(std::move(release)) {}
  PinnedFile(PinnedFile&& other) noexcept
      : path_(std::move(other.path_)), release_(std::exchange(other.release_, {})) {}
  PinnedFile& operator=(PinnedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~PinnedFile() {
    if (release_) release_();
  }

  // On this machine: any process can read all of it there.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::function<void()> release_;
};

// A file as the store lists it.
struct ListedFile {
  std::string name;
  std::int64_t bytes = 0;
  Time written_at{};  // by the clock of the store
  friend bool operator==(const ListedFile&, const ListedFile&) = default;
};

struct StoreSpace {
  std::int64_t total_bytes = 0;
  std::int64_t free_bytes = 0;  // that may be filled
};

// Every store holds a file of this name, with this text, from its creation on. A place without it is no empty store but
// one that is away: a folder that is not mounted, say.
inline constexpr std::string_view kStoreSign = ".espalier-store";
inline constexpr std::string_view kStoreSignText =
    "An Espalier checkpoint store. Where this file is not, nothing is stored: the folder may not be mounted.\n";

// Whether a store may have a file of that name: relative, within the store, neither the sign nor as temporaries are
// named. Error: kInvalidArgument.
Result<void> CheckStoreName(std::string_view name);

class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;

  // Makes the staged file durable in the store as `name` (relative, may have folders) and returns once it is. The
  // staged file remains, so that whoever restarts knows that it may not have been reported. Putting the same name again
  // replaces it by equal content. Holds a megabyte of the file at most. Error: kUnavailable; kResourceExhausted when
  // there is no room; kNotFound when there is no staged file; kInvalidArgument when this cannot be a name.
  virtual Result<void> Put(const std::filesystem::path& staged, std::string_view name) = 0;

  // The whole file, readable as a local one; where the store is none, a copy. Error: kUnavailable, also when there is
  // no room for the copy; kNotFound when the store has no such file.
  virtual Result<PinnedFile> Fetch(std::string_view name) = 0;

  // Removing what is not there succeeds. What is pinned stays readable until it is released; then at the latest it
  // goes. Error: kUnavailable.
  virtual Result<void> Remove(std::string_view name) = 0;

  // All whole files, by name. Error: kUnavailable.
  virtual Result<std::vector<ListedFile>> List() = 0;

  // Error: kUnavailable.
  virtual Result<StoreSpace> Space() = 0;
};

}  // namespace espalier
