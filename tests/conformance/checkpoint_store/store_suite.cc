// What every checkpoint store does.
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/clock.h"
#include "tests/conformance/checkpoint_store/backend.h"
#include "tests/support/temporary_folder.h"

namespace espalier {
namespace {

Names ListedNames(CheckpointStore& store) {
  Names names;
  const std::vector<ListedFile> files = store.List().value();
  for (const ListedFile& file : files) names.push_back(file.name);
  return names;
}

std::string Fetched(CheckpointStore& store, std::string_view name) { return Bytes(store.Fetch(name).value().path()); }

ErrorCode CodeOf(const auto& result) { return result.has_value() ? ErrorCode::kInternal : result.error().code; }

void CheckIsAway(CheckpointStore& store, const std::filesystem::path& staged) {
  CHECK(CodeOf(store.Put(staged, "a")) == ErrorCode::kUnavailable);
  CHECK(CodeOf(store.Put(staged, "new/b")) == ErrorCode::kUnavailable);
  CHECK(CodeOf(store.Fetch("a")) == ErrorCode::kUnavailable);
  CHECK(CodeOf(store.Fetch("nothing")) == ErrorCode::kUnavailable);
  CHECK(CodeOf(store.Remove("a")) == ErrorCode::kUnavailable);
  CHECK(CodeOf(store.List()) == ErrorCode::kUnavailable);
  CHECK(CodeOf(store.Space()) == ErrorCode::kUnavailable);
}

}  // namespace

TEST_CASE("a file that was put is there, whole, until it is removed; the staged one remains") {
  const std::unique_ptr<StoreBackend> backend = NewStore();
  CheckpointStore& store = backend->store();
  const TemporaryFolder folder;
  Overwrite(folder / "staged", "content");
  CHECK(store.List().value().empty());
  CHECK(CodeOf(store.Fetch("a/b")) == ErrorCode::kNotFound);
  REQUIRE(store.Put(folder / "staged", "a/b").has_value());
  REQUIRE(store.Put(folder / "staged", "a-c").has_value());
  CHECK(Fetched(store, "a/b") == "content");
  CHECK(Bytes(folder / "staged") == "content");
  CHECK(ListedNames(store) == Names{"a-c", "a/b"});
  std::filesystem::remove(folder / "staged");
  CHECK(Fetched(store, "a/b") == "content");
  REQUIRE(store.Remove("a/b").has_value());
  CHECK(CodeOf(store.Fetch("a/b")) == ErrorCode::kNotFound);
  CHECK(ListedNames(store) == Names{"a-c"});
  CHECK(folder.Names().empty());
}

TEST_CASE("putting a name again replaces it; removing what is not there succeeds") {
  const std::unique_ptr<StoreBackend> backend = NewStore();
  CheckpointStore& store = backend->store();
  const TemporaryFolder folder;
  Overwrite(folder / "staged", "first");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  REQUIRE(store.Put(folder / "staged", "b").has_value());
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  std::filesystem::remove(folder / "staged");
  Overwrite(folder / "staged", "second");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  CHECK(Fetched(store, "a") == "second");
  CHECK(Fetched(store, "b") == "first");
  REQUIRE(store.Remove("a").has_value());
  REQUIRE(store.Remove("a").has_value());
  REQUIRE(store.Remove("nothing/at/all").has_value());
  REQUIRE(store.Remove("b/c").has_value());
  CHECK(ListedNames(store) == Names{"b"});
}

TEST_CASE("what is not there is not found, a folder is no file, and what cannot be a name is refused") {
  const std::unique_ptr<StoreBackend> backend = NewStore();
  CheckpointStore& store = backend->store();
  const TemporaryFolder folder;
  CHECK(CodeOf(store.Put(folder / "staged", "a")) == ErrorCode::kNotFound);
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a/b").has_value());
  REQUIRE(store.Put(folder / "staged", "c").has_value());
  for (const char* name : {"a", "d", "a/d", "c/b"}) {
    INFO(name);
    CHECK(CodeOf(store.Fetch(name)) == ErrorCode::kNotFound);
  }
  for (const char* name : {"", "/etc/a", "../a", "a/../../b", "a/", "a.tmp", ".espalier-store"}) {
    INFO(name);
    CHECK(CodeOf(store.Put(folder / "staged", name)) == ErrorCode::kInvalidArgument);
    CHECK(CodeOf(store.Fetch(name)) == ErrorCode::kInvalidArgument);
    CHECK(CodeOf(store.Remove(name)) == ErrorCode::kInvalidArgument);
  }
  CHECK(ListedNames(store) == Names{"a/b", "c"});
}

TEST_CASE("a store lists sizes and times, and says how much room it has") {
  const std::unique_ptr<StoreBackend> backend = NewStore();
  CheckpointStore& store = backend->store();
  const TemporaryFolder folder;
  const auto written_at = [&] { return store.List().value().at(0).written_at; };
  Overwrite(folder / "staged", std::string(5 << 20, 'x'));
  REQUIRE(store.Put(folder / "staged", "plan/7/large").has_value());
  CHECK(store.List().value().at(0).bytes == 5 << 20);
  CHECK(written_at() > Now() - std::chrono::hours(1));
  CHECK(written_at() < Now() + std::chrono::hours(1));
  CHECK(Fetched(store, "plan/7/large") == std::string(5 << 20, 'x'));
  const StoreSpace space = store.Space().value();
  CHECK(space.total_bytes > 0);
  CHECK(space.free_bytes <= space.total_bytes);
}

TEST_CASE("a pinned file stays readable, whatever is removed; each pin counts") {
  const std::unique_ptr<StoreBackend> backend = NewStore();
  CheckpointStore& store = backend->store();
  const TemporaryFolder folder;
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  {
    const PinnedFile last = store.Fetch("a").value();
    {
      const PinnedFile pinned = store.Fetch("a").value();
      REQUIRE(store.Remove("a").has_value());
      CHECK(Bytes(pinned.path()) == "content");
    }
    CHECK(Bytes(last.path()) == "content");
  }
  CHECK(CodeOf(store.Fetch("a")) == ErrorCode::kNotFound);
  CHECK(store.List().value().empty());
}

TEST_CASE("what is put anew while it is pinned outlives the removal before") {
  const std::unique_ptr<StoreBackend> backend = NewStore();
  CheckpointStore& store = backend->store();
  const TemporaryFolder folder;
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  {
    const PinnedFile pinned = store.Fetch("a").value();
    REQUIRE(store.Remove("a").has_value());
    REQUIRE(store.Put(folder / "staged", "a").has_value());
  }
  CHECK(Fetched(store, "a") == "content");
}

TEST_CASE("a store that is away says so of everything, and has all that it had when it is back") {
  const std::unique_ptr<StoreBackend> backend = NewStore();
  CheckpointStore& store = backend->store();
  const TemporaryFolder folder;
  Overwrite(folder / "staged", "content");
  REQUIRE(store.Put(folder / "staged", "a").has_value());
  backend->TakeAway();
  CheckIsAway(store, folder / "staged");
  backend->BringBack();
  CHECK(ListedNames(store) == Names{"a"});
  CHECK(Fetched(store, "a") == "content");
  REQUIRE(store.Put(folder / "staged", "new/b").has_value());
  REQUIRE(store.Remove("a").has_value());
  CHECK(ListedNames(store) == Names{"new/b"});
}

TEST_CASE("threads that put and fetch the same name and others at the same time find whole files") {
  const std::unique_ptr<StoreBackend> backend = NewStore();
  CheckpointStore& store = backend->store();
  const TemporaryFolder folder;
  const std::string content(100'000, 'x');
  Overwrite(folder / "staged", content);
  REQUIRE(store.Put(folder / "staged", "shared").has_value());
  std::atomic<int> failure_count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, own = "of/" + std::to_string(i)] {
      for (int j = 0; j < 10; ++j) {
        for (const std::string& name : {std::string("shared"), own}) {
          if (!store.Put(folder / "staged", name).has_value()) ++failure_count;
          const Result<PinnedFile> fetched = store.Fetch(name);
          if (!fetched.has_value() || Bytes(fetched->path()) != content) ++failure_count;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failure_count == 0);
  CHECK(ListedNames(store) == Names{"of/0", "of/1", "of/2", "of/3", "shared"});
}

}  // namespace espalier
