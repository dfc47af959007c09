#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "worker/checkpoint/checkpoint_format.h"
#include "worker/checkpoint/file.h"
#include "worker/checkpoint/local_checkpoint_store.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// A folder that goes away with the test.
class Folder {
 public:
  explicit Folder(const char* pattern = "/tmp/espalier-checkpoint-XXXXXX") {
    std::string name = pattern;
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(std::string_view name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(path_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path path_;
};

using Names = std::vector<std::string>;

std::string Bytes(const fs::path& path) { return ReadWholeFile(path).value(); }
void Overwrite(const fs::path& path, std::string_view bytes) { REQUIRE(WriteWholeFile(path, bytes).has_value()); }

std::string ReasonOfAbsence(const fs::path& path) {
  const auto file = ReadCheckpointFile(path);
  const auto head = ReadCheckpointHead(path);
  REQUIRE_FALSE(file.has_value());
  REQUIRE_FALSE(head.has_value());
  CHECK(file.error().code == ErrorCode::kNotFound);
  CHECK(head.error() == file.error());
  return file.error().message;
}

}  // namespace

TEST_CASE("a checkpoint file reads back as it was written, and leaves no temporary") {
  const Folder folder;
  const std::string head("head\0\n", 6);
  for (const std::string& payload : {std::string(), std::string("x"), std::string(1 << 20, '\xff')}) {
    REQUIRE(WriteCheckpointFile(folder / "a", head, payload).has_value());
    const CheckpointFile file = ReadCheckpointFile(folder / "a").value();
    CHECK(file.head == head);
    CHECK((file.payload == payload));
    CHECK(ReadCheckpointHead(folder / "a").value() == head);
    CHECK(folder.Names() == Names{"a"});
  }
}

TEST_CASE("the bytes of a checkpoint file are the same in every release") {
  const Folder folder;
  REQUIRE(WriteCheckpointFile(folder / "a", "hd", "load").has_value());
  const std::string bytes = Bytes(folder / "a");
  const std::string expected("ESPALIER\1\0\0\0\2\0\0\0\4\0\0\0\0\0\0\0hdload", 30);
  CHECK(bytes.substr(0, 30) == expected);
  CHECK(bytes.size() == 46);
}

TEST_CASE("a checkpoint file with any byte flipped counts as absent") {
  const Folder folder;
  REQUIRE(WriteCheckpointFile(folder / "a", "head", "payload").has_value());
  const std::string whole = Bytes(folder / "a");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    Overwrite(folder / "a", damaged);
    INFO("byte " << i);
    ReasonOfAbsence(folder / "a");
  }
}

TEST_CASE("a checkpoint file cut at any length, or with bytes behind it, counts as absent") {
  const Folder folder;
  REQUIRE(WriteCheckpointFile(folder / "a", "head", "payload").has_value());
  const std::string whole = Bytes(folder / "a");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Overwrite(folder / "a", whole.substr(0, length));
    INFO("length " << length);
    ReasonOfAbsence(folder / "a");
  }
  Overwrite(folder / "a", whole + "x");
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("damaged"));
}

TEST_CASE("a missing file, a foreign file and another version count as absent, and the message says which") {
  const Folder folder;
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("No such file"));
  Overwrite(folder / "a", std::string(100, 'x'));
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("foreign"));
  REQUIRE(WriteCheckpointFile(folder / "a", "head", "payload").has_value());
  std::string bytes = Bytes(folder / "a");
  bytes[8] = 2;
  Overwrite(folder / "a", bytes);
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("version"));
}

TEST_CASE("a checkpoint file that cannot be written is an error that names it, and leaves nothing") {
  const Folder folder;
  const auto written = WriteCheckpointFile(folder / "missing/a", "head", "payload");
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().code == ErrorCode::kInternal);
  CHECK_THAT(written.error().message, Catch::Contains("missing/a") && Catch::Contains("No such file"));
  fs::create_directory(folder / "b");
  CHECK_FALSE(WriteCheckpointFile(folder / "b", "head", "payload").has_value());
  CHECK(folder.Names().empty());
}

LocalCheckpointStore Created(const fs::path& folder) {
  REQUIRE(LocalCheckpointStore::Create(folder).has_value());
  return LocalCheckpointStore(folder);
}

void CheckIsAway(CheckpointStore& store, const fs::path& staged) {
  CHECK(store.Put(staged, "a").error().code == ErrorCode::kUnavailable);
  CHECK(store.Fetch("a").error().code == ErrorCode::kUnavailable);
  CHECK(store.Remove("a").error().code == ErrorCode::kUnavailable);
  CHECK(store.List().error().code == ErrorCode::kUnavailable);
}

// Every implementation of CheckpointStore must pass this. `staging` may lie on another filesystem than the store.
void CheckConformance(CheckpointStore& store, const Folder& staging) {
  const fs::path staged = staging / "staged";
  CHECK(store.List().value().empty());
  CHECK(store.Fetch("a/b").error().code == ErrorCode::kNotFound);

  Overwrite(staged, "first");
  REQUIRE(store.Put(staged, "a/b").has_value());
  REQUIRE(store.Put(staged, "a-c").has_value());
  CHECK(Bytes(store.Fetch("a/b").value()) == "first");
  CHECK(Bytes(staged) == "first");
  CHECK(store.List().value() == Names{"a-c", "a/b"});

  REQUIRE(store.Put(staged, "a/b").has_value());  // the same again
  fs::remove(staged);
  Overwrite(staged, "second");
  REQUIRE(store.Put(staged, "a/b").has_value());
  CHECK(Bytes(store.Fetch("a/b").value()) == "second");
  CHECK(Bytes(store.Fetch("a-c").value()) == "first");
  fs::remove(staged);
  CHECK(Bytes(store.Fetch("a/b").value()) == "second");

  CHECK(store.Put(staged, "d").error().code == ErrorCode::kNotFound);
  CHECK(store.Fetch("d").error().code == ErrorCode::kNotFound);
  CHECK(store.Fetch("a").error().code == ErrorCode::kNotFound);
  CHECK(store.Fetch("a-c/b").error().code == ErrorCode::kNotFound);
  for (const char* name : {"", "/etc/a", "../a", "a/../../b", "a/"}) {
    INFO(name);
    CHECK(store.Put(staged, name).error().code == ErrorCode::kInvalidArgument);
  }

  REQUIRE(store.Remove("a/b").has_value());
  REQUIRE(store.Remove("a/b").has_value());
  REQUIRE(store.Remove("nothing/at/all").has_value());
  REQUIRE(store.Remove("a-c/b").has_value());
  CHECK(store.Fetch("a/b").error().code == ErrorCode::kNotFound);
  CHECK(store.List().value() == Names{"a-c"});
}

TEST_CASE("the local store keeps its contract, with staging on its own filesystem and on another") {
  const Folder folder;
  const Folder near;
  LocalCheckpointStore store = Created(folder / "store/deep");
  CheckConformance(store, near);
  CHECK(folder.Names() == Names{"store/deep/a-c"});

  if (access("/dev/shm", W_OK) != 0) return;
  const Folder far("/dev/shm/espalier-checkpoint-XXXXXX");
  LocalCheckpointStore other = Created(folder / "other");
  CheckConformance(other, far);
  CHECK(folder.Names() == Names{"other/a-c", "store/deep/a-c"});
}

TEST_CASE("a store whose folder is not there is away: nothing is said of its files, and no new one is begun") {
  const Folder folder;
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  fs::rename(folder / "store", folder / "elsewhere");
  CheckIsAway(store, folder / "staged");
  CHECK_FALSE(fs::exists(folder / "store"));
  Overwrite(folder / "store", "a file");
  CheckIsAway(store, folder / "staged");
  fs::remove(folder / "store");
  fs::rename(folder / "elsewhere", folder / "store");
  CHECK(Bytes(store.Fetch("a").value()) == "content");
}

TEST_CASE("a store that gives errors is away") {
  const Folder folder;
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(folder / "staged", "content");
  fs::create_symlink("loop", folder / "store/loop");  // following it is an error that is not "no such file"
  CHECK(store.Fetch("loop").error().code == ErrorCode::kUnavailable);
  CHECK(store.Fetch("loop/a").error().code == ErrorCode::kUnavailable);
  CHECK(store.Put(folder / "staged", "loop/a").error().code == ErrorCode::kUnavailable);
  fs::create_directory(folder / "store/a");
  CHECK(store.Put(folder / "staged", "a").error().code == ErrorCode::kUnavailable);
  CHECK_FALSE(fs::exists(folder / "store/a.tmp"));
}

TEST_CASE("a checkpoint file that cannot be read now is not absent") {
  const Folder folder;
  CHECK(ReadCheckpointHead(folder.path()).error().code ==
        ErrorCode::kUnavailable);  // a folder opens, and does not read
  CHECK(ReadCheckpointFile(folder.path()).error().code == ErrorCode::kUnavailable);
}

TEST_CASE("putting a name again takes away the temporary that a killed process left") {
  const Folder folder;
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  fs::create_hard_link(folder / "store/a", folder / "store/a.tmp");
  CHECK(store.List().value() == Names{"a"});
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  CHECK(folder.Names() == Names{"staged", "store/a"});
}

TEST_CASE("threads that put one name at the same time leave one whole file") {
  const Folder folder;
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(folder / "staged", std::string(100'000, 'x'));
  std::vector<std::thread> threads;
  std::atomic<int> failure_count = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10; ++j) failure_count += store.Put(folder / "staged", "a").has_value() ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failure_count == 0);
  CHECK(folder.Names() == Names{"staged", "store/a"});
  CHECK(Bytes(store.Fetch("a").value()).size() == 100'000);
}

}  // namespace espalier
