#include "master/store/leadership.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <semaphore>

#include "master/store/connection.h"
#include "master/store/migrate.h"
#include "master/store/postgres_state_store.h"
#include "tests/conformance/state_store/shared_postgres.h"
#include "tests/support/edit_generator.h"

namespace espalier::master {
namespace {

std::string NewDatabase() {
  std::string url = SharedPostgres().NewDatabase();
  REQUIRE(Migrate(url).has_value());
  return url;
}

std::unique_ptr<Leadership> Lead(
    const std::string& url, std::function<void(const Error&)> lost = [](const Error&) {}) {
  auto acquired = Leadership::Acquire(url, "test", {}, {.lost = std::move(lost)});
  REQUIRE(acquired.has_value());
  return *std::move(acquired);
}

TEST_CASE("epochs count up") {
  const std::string url = NewDatabase();
  const auto first = Lead(url)->epoch();
  CHECK(Lead(url)->epoch() > first);
}

TEST_CASE("a second master waits while the first one leads, and can be stopped") {
  const std::string url = NewDatabase();
  const auto leader = Lead(url);
  std::stop_source stop;
  auto second =
      std::async(std::launch::async, [&] { return Leadership::Acquire(url, "second", stop.get_token(), {}); });
  CHECK(second.wait_for(std::chrono::milliseconds(500)) == std::future_status::timeout);
  stop.request_stop();
  const auto refused = second.get();
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kAborted);
}

TEST_CASE("looking at who leads, as those who wait do all the time, compiles nothing") {
  Connection connection(NewDatabase(), std::nullopt, "leadership/");
  pqxx::work transaction(connection.get());
  Query(transaction, "leadership/first");
  REQUIRE(Query(transaction, "leadership/show").size() == 1);
  for (const pqxx::row& line : transaction.exec("EXPLAIN ANALYZE EXECUTE \"leadership/show\"")) {
    CHECK(line.front().as<std::string>() != "JIT:");
  }
}

TEST_CASE("a master whose connections are gone is taken over from") {
  const std::string url = NewDatabase();
  auto leader = Lead(url);
  auto second = std::async(std::launch::async, [&] { return Lead(url)->epoch(); });
  const std::int64_t epoch = leader->epoch();
  leader.reset();
  CHECK(second.get() > epoch);
}

TEST_CASE("a master that renews no more is taken over from: its connections end, it is told, it can write nothing") {
  const std::string url = NewDatabase();
  std::promise<Error> lost;
  const auto frozen = Lead(url, [&](const Error& error) { lost.set_value(error); });
  PostgresStateStore store(url, frozen->epoch());
  REQUIRE(store.Load().has_value());
  EditGenerator generator(3);
  REQUIRE(store.Commit(generator.Next()).has_value());
  // As if it were stopped: its renewals fail, and the last one is long ago.
  SharedPostgres().Run(url, "ALTER TABLE leadership ADD CHECK (epoch <> " + std::to_string(frozen->epoch()) +
                                " OR renewed_at < '2001-01-01') NOT VALID");
  SharedPostgres().Run(url, "UPDATE leadership SET renewed_at = '2000-01-01'");
  const auto successor = Lead(url);
  CHECK(successor->epoch() == frozen->epoch() + 1);
  CHECK(lost.get_future().get().code == ErrorCode::kFailedPrecondition);
  const Result<void> written = store.Commit(generator.Next());
  REQUIRE_FALSE(written.has_value());
  const Result<MasterState> read = store.Load();
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == ErrorCode::kFailedPrecondition);
}

TEST_CASE("a master whose renewals do not come through is uncertain until they do") {
  const std::string url = NewDatabase();
  std::counting_semaphore<> uncertain(0);
  std::promise<Error> lost;
  const auto acquired = Leadership::Acquire(
      url, "test", {},
      {.lost = [&](const Error& error) { lost.set_value(error); }, .uncertain = [&] { uncertain.release(); }});
  REQUIRE(acquired.has_value());
  Leadership& leadership = **acquired;
  CHECK(leadership.AwaitCertain({}));
  SharedPostgres().Run(url, "ALTER TABLE leadership ADD CONSTRAINT away CHECK (renewed_at < '2001-01-01') NOT VALID");
  uncertain.acquire();
  CHECK_FALSE(leadership.is_certain());
  SECTION("nobody has taken over") {
    SharedPostgres().Run(url, "ALTER TABLE leadership DROP CONSTRAINT away");
    CHECK(leadership.AwaitCertain({}));
  }
  SECTION("another has") {
    SharedPostgres().Run(url, "UPDATE leadership SET epoch = epoch + 1, renewed_at = '2000-01-01'");
    CHECK_FALSE(leadership.AwaitCertain({}));
    CHECK(lost.get_future().get().code == ErrorCode::kFailedPrecondition);
  }
}

TEST_CASE("a takeover waits for a transaction that has locked the epoch") {
  const std::string url = NewDatabase();
  auto leader = Lead(url);
  // Of a connection that bears no epoch: it is not ended.
  auto writer = std::async(std::launch::async, [&] {
    SharedPostgres().Run(
        url, "BEGIN; SELECT FROM leadership FOR KEY SHARE; SELECT pg_sleep(1); CREATE TABLE written (); COMMIT");
  });
  while (SharedPostgres().Run(url, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "0") {
  }
  leader.reset();
  leader = Lead(url);
  CHECK(SharedPostgres().Run(url, "SELECT count(*) FROM pg_class WHERE relname = 'written'") == "1");
  writer.get();
}

}  // namespace
}  // namespace espalier::master
