#include <stdlib.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
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
      if (entry.path().filename() == ".espalier-store") continue;
      if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(path_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path path_;
};

using Names = std::vector<std::string>;

std::string Bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void Overwrite(const fs::path& path, std::string_view bytes) {
  REQUIRE(WriteWholeFile(path, std::array{bytes}).has_value());
}

const worker::CheckpointIdentity kIdentity{.run = {LeadershipId{(std::int64_t{1} << 60) + 1}, RunId{5}},
                                           .plan = PlanId{1},
                                           .point = {PlanNodeId{2}, Step{3}},
                                           .lineage = DigestOf("lineage")};

TrainingState SomeState() {
  std::string floats(24, '\0');
  for (std::size_t i = 0; i < floats.size(); ++i)
    floats[i] = static_cast<char>(0xf8 + i);  // NaNs with payloads among them
  return {{"a", {.type = "F32", .shape = {2, 3}, .bytes = floats}},
          {"double", {.type = "F64", .shape = {3}, .bytes = floats}},
          {"empty", {.type = "F32", .shape = {0, 4}, .bytes = {}}},
          {"half", {.type = "BF16", .shape = {12}, .bytes = floats}},
          {"bits", {.type = "BOOL", .shape = {2}, .bytes = std::string("\1\0", 2)}},
          {"number", WholeNumber(-5)},
          {"text", Text("any text")}};
}

void Write(const fs::path& path, const TrainingState& state = SomeState()) {
  REQUIRE(WriteCheckpointFile(path, kIdentity, state).has_value());
}

std::string ReasonOfAbsence(const fs::path& path) {
  const auto file = ReadCheckpointFile(path);
  const auto head = CheckCheckpointFile(path);
  REQUIRE_FALSE(file.has_value());
  REQUIRE_FALSE(head.has_value());
  CHECK(file.error().code == ErrorCode::kNotFound);
  CHECK(head.error() == file.error());
  return file.error().message;
}

}  // namespace

TEST_CASE("a checkpoint file reads back as it was written, bit for bit, and leaves no temporary") {
  const Folder folder;
  const TrainingState large{{"large", {.type = "U8", .shape = {3 << 20}, .bytes = std::string(3 << 20, '\xff')}},
                            {"small", WholeNumber(1)}};
  for (const TrainingState& state : {TrainingState(), SomeState(), large}) {
    const WrittenCheckpoint written = WriteCheckpointFile(folder / "a", kIdentity, state).value();
    CHECK(written.state_sha256 == Sha256Of(state));
    CHECK(written.bytes == static_cast<std::int64_t>(fs::file_size(folder / "a")));
    const CheckpointFile file = ReadCheckpointFile(folder / "a").value();
    CHECK(file.head.identity == kIdentity);
    CHECK(file.head.state_sha256 == written.state_sha256);
    CHECK((file.state == state));
    CHECK(CheckCheckpointFile(folder / "a").value().identity == kIdentity);
    CHECK(folder.Names() == Names{"a"});
  }
  CHECK(ReadWholeNumber(SomeState(), "number") == -5);
}

TEST_CASE("the bytes of a checkpoint file are the same in every release, and a safetensors file's") {
  const Folder folder;
  Write(folder / "a", {{"b", {.type = "U8", .shape = {2}, .bytes = "xy"}}, {"n", WholeNumber(1)}});
  const std::string bytes = Bytes(folder / "a");
  const std::string head =
      R"({"__metadata__":{"espalier.head_sha256":"17f9e33825d14dd2454b7a00764058a1eb05b45063ae7d3b9fbd69923c2d3a08",)"
      R"("espalier.identity":"{\"leadershipId\":\"1152921504606846977\",\"lineageDigest\":\"97028c44d7f89638ac2fa7b37aac5ce8\",)"
      R"(\"planId\":1,\"planNodeId\":2,\"runId\":5,\"step\":3}",)";
  CHECK(bytes.substr(8, head.size()) == head);
  const std::size_t head_bytes = bytes.size() - 18;
  CHECK(static_cast<unsigned char>(bytes[0]) + 256 * static_cast<unsigned char>(bytes[1]) ==
        static_cast<int>(head_bytes));
  CHECK(bytes.substr(2, 6) == std::string(6, '\0'));
  CHECK(head_bytes % 8 == 0);
  CHECK(bytes.substr(bytes.size() - 10) == std::string("xy\1\0\0\0\0\0\0\0", 10));
}

TEST_CASE("a checkpoint file with any byte flipped counts as absent") {
  const Folder folder;
  Write(folder / "a");
  const std::string whole = Bytes(folder / "a");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    Overwrite(folder / "a", damaged);
    INFO("byte " << i);
    // A space behind the head is the only byte that may be another.
    if (whole[i] == ' ' && CheckCheckpointFile(folder / "a").has_value()) continue;
    ReasonOfAbsence(folder / "a");
  }
}

TEST_CASE("a checkpoint file cut at any length, or with bytes behind it, counts as absent") {
  const Folder folder;
  Write(folder / "a");
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
  Overwrite(folder / "a", std::string("\2\0\0\0\0\0\0\0{}", 10));  // a safetensors file of nobody's
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("foreign"));
  Write(folder / "a");
  std::string bytes = Bytes(folder / "a");
  const std::string version = R"("espalier.version":")";
  bytes[bytes.find(version) + version.size()] = '2';
  Overwrite(folder / "a", bytes);
  CHECK_THAT(ReasonOfAbsence(folder / "a"), Catch::Contains("version"));
}

TEST_CASE("a checkpoint file that cannot be written is an error that names it, and leaves nothing") {
  const Folder folder;
  const auto written = WriteCheckpointFile(folder / "missing/a", kIdentity, SomeState());
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().code == ErrorCode::kInternal);
  CHECK_THAT(written.error().message, Catch::Contains("missing/a") && Catch::Contains("No such file"));
  fs::create_directory(folder / "b");
  CHECK_FALSE(WriteCheckpointFile(folder / "b", kIdentity, SomeState()).has_value());
  for (const StateArray& wrong :
       {StateArray{"F32", {2}, "xy"}, StateArray{"F7", {1}, "x"}, StateArray{"U8", {-1}, ""}}) {
    CHECK_FALSE(WriteCheckpointFile(folder / "c", kIdentity, {{"wrong", wrong}}).has_value());
  }
  CHECK(folder.Names().empty());
}

TEST_CASE("the digest of a state is the same in every release, and differs with every part") {
  CHECK(Sha256Of({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(Sha256Of({{"b", WholeNumber(1)}, {"a", {.type = "U8", .shape = {1, 2}, .bytes = "xy"}}}) ==
        Sha256Hex(std::string("a\0U8\0001,2\0xyb\0I64\0\0\1\0\0\0\0\0\0\0", 26)));
  std::set<std::string> digests{Sha256Of(SomeState())};
  for (const auto& [name, array] : SomeState()) {
    TrainingState other = SomeState();
    other.erase(name);
    digests.insert(Sha256Of(other));
    other[name + "_"] = array;
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].type += "_";
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].shape.push_back(1);
    digests.insert(Sha256Of(other));
    other = SomeState();
    other[name].bytes += '\0';
    digests.insert(Sha256Of(other));
  }
  CHECK(digests.size() == 1 + 5 * SomeState().size());
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
  for (const char* name : {"", "/etc/a", "../a", "a/../../b", "a/", ".espalier-store"}) {
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

TEST_CASE("a folder without the store's sign, as one that is not mounted, is away and is not filled") {
  const Folder folder;
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  fs::rename(folder / "store", folder / "elsewhere");
  fs::create_directory(folder / "store");
  CheckIsAway(store, folder / "staged");
  CHECK(fs::is_empty(folder / "store"));
  fs::remove(folder / "store");
  fs::rename(folder / "elsewhere", folder / "store");
  CHECK(store.List().value() == Names{"a"});
  REQUIRE(LocalCheckpointStore::Create(folder / "store").has_value());  // another server is set up
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
  CHECK(CheckCheckpointFile(folder.path()).error().code ==
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
