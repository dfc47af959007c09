// What only a store in a directory does.
#include "worker/checkpoint/local_checkpoint_store.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

LocalCheckpointStore Created(const fs::path& folder) {
  REQUIRE(LocalCheckpointStore::Create(folder).has_value());
  return LocalCheckpointStore(folder);
}

}  // namespace

TEST_CASE("a local store takes files from another file system, and leaves no temporary") {
  if (access("/dev/shm", W_OK) != 0) return;
  const TemporaryFolder folder;
  const TemporaryFolder far("/dev/shm/espalier-checkpoint-XXXXXX");
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(far / "staged", "first");
  REQUIRE(store.Put(far / "staged", "a").has_value());
  Overwrite(far / "staged", "second");
  REQUIRE(store.Put(far / "staged", "a").has_value());
  CHECK(Bytes(folder / "store/a") == "second");
  CHECK(folder.Names() == Names{"store/a"});
}

TEST_CASE("a store whose folder is not there, or is a file, is away, and no new one is begun") {
  const TemporaryFolder folder;
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  fs::rename(folder / "store", folder / "elsewhere");
  const auto check_is_away = [&] {
    CHECK(store.Put(folder / "staged", "a").error().code == ErrorCode::kUnavailable);
    CHECK(store.Fetch("a").error().code == ErrorCode::kUnavailable);
    CHECK(store.Remove("a").error().code == ErrorCode::kUnavailable);
    CHECK(store.List().error().code == ErrorCode::kUnavailable);
  };
  check_is_away();
  CHECK_FALSE(fs::exists(folder / "store"));
  Overwrite(folder / "store", "a file");
  check_is_away();
  fs::remove(folder / "store");
  fs::rename(folder / "elsewhere", folder / "store");
  CHECK(Bytes(store.Fetch("a").value().path()) == "content");
}

TEST_CASE("a second server is set up with a store that is there: nothing of it changes") {
  const TemporaryFolder folder;
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  LocalCheckpointStore other = Created(folder / "store");
  CHECK(Bytes(other.Fetch("a").value().path()) == "content");
}

TEST_CASE("a store that gives errors is away") {
  const TemporaryFolder folder;
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

TEST_CASE("putting a name again takes away the temporary that a killed process left") {
  const TemporaryFolder folder;
  LocalCheckpointStore store = Created(folder / "store");
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  fs::create_hard_link(folder / "store/a", folder / "store/a.tmp");
  CHECK(store.List().value().size() == 1);
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  CHECK(folder.Names() == Names{"staged", "store/a"});
}

}  // namespace espalier
