// espalier-store: what `espalier checkpoint` does in a checkpoint store, wherever it lies.
//   espalier-store list PLACE             its files, one a line: bytes, when written (seconds since 1970), name
//   espalier-store get PLACE NAME FILE    copies a checkpoint to FILE, which must not be there yet, once it was read
//   from end to end espalier-store remove PLACE           removes the files that standard input names, one a line
// PLACE as in node managers' configuration files. Exit: 0 done, 1 the store is away or something else failed, 2 wrong
// usage.
#include <stdlib.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/checkpoint/file.h"
#include "worker/store/open_store.h"

namespace {

using espalier::CheckpointStore;
using espalier::Result;

Result<void> List(CheckpointStore& store) {
  ESPALIER_ASSIGN(const std::vector<espalier::ListedFile> files, store.List());
  for (const espalier::ListedFile& file : files) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(file.written_at.time_since_epoch());
    std::cout << file.bytes << ' ' << seconds.count() << ' ' << file.name << '\n';
  }
  return {};
}

Result<void> Get(CheckpointStore& store, const std::string& name, const std::filesystem::path& file) {
  ESPALIER_ASSIGN(const espalier::PinnedFile pinned, store.Fetch(name));
  ESPALIER_RETURN_IF_ERROR(espalier::CheckCheckpointFile(pinned.path()));
  std::filesystem::path temporary = file;
  temporary += espalier::kTemporarySuffix;
  ESPALIER_RETURN_IF_ERROR(espalier::CopyWholeFile(pinned.path(), temporary));
  std::error_code error;
  std::filesystem::create_hard_link(temporary, file, error);  // unlike a rename it replaces nothing
  std::filesystem::remove(temporary);
  if (!error) return {};
  return espalier::MakeError(espalier::ErrorCode::kInternal, "cannot write " + file.string() + ": " + error.message());
}

Result<void> Remove(CheckpointStore& store) {
  for (std::string name; std::getline(std::cin, name);) {
    ESPALIER_RETURN_IF_ERROR(store.Remove(name));
  }
  return {};
}

int Refuse(const espalier::Error& error) {
  std::cerr << "espalier-store: " << error.message << '\n';
  return 1;
}

// A folder that goes with this.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "espalier-store-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

int main(int argument_count, char** argument_list) {
  const std::vector<std::string> arguments(argument_list + 1, argument_list + argument_count);
  const std::string verb = arguments.empty() ? "" : arguments[0];
  const std::size_t expected = verb == "get" ? 4 : verb == "list" || verb == "remove" ? 2 : 0;
  if (arguments.size() != expected || expected == 0) {
    std::cerr << "usage: espalier-store list PLACE | get PLACE NAME FILE | remove PLACE\n";
    return 2;
  }
  const Result<espalier::StoreLocation> location = espalier::ParseStoreLocation(arguments[1]);
  if (!location.has_value()) return Refuse(location.error()), 2;
  const TemporaryFolder copies;
  const auto store = espalier::OpenStore(*location, copies.path());
  const Result<void> done = verb == "list"  ? List(*store)
                            : verb == "get" ? Get(*store, arguments[2], arguments[3])
                                            : Remove(*store);
  return done.has_value() ? 0 : Refuse(done.error());
}
