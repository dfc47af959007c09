// What node managers log, in PostgreSQL: what is found of it, and what is kept.
#include "master/store/postgres_server_log_store.h"

#include <catch2/catch.hpp>

#include "master/store/connection.h"
#include "master/store/leadership.h"
#include "master/store/migrate.h"
#include "tests/conformance/state_store/shared_postgres.h"

namespace espalier::master {
namespace {

struct Logging {
  Logging() {
    REQUIRE(Migrate(url).has_value());
    leadership = Leadership::Acquire(url, "test", {}, {.lost = [](const Error&) {}}).value();
    logs = std::make_unique<PostgresServerLogStore>(url, leadership->epoch());
  }

  void Put(const std::string& server, std::int64_t position, std::string text, const std::string& incarnation = "abc") {
    const auto put = logs->Put({server, incarnation, position, std::move(text)});
    INFO((put.has_value() ? "" : put.error().message));
    REQUIRE(put.has_value());
  }
  std::vector<StoredServerLog> Stored(const std::string& server, std::int64_t after = 0) {
    const auto found = logs->Read(server, after);
    INFO((found.has_value() ? "" : found.error().message));
    REQUIRE(found.has_value());
    return *found;
  }
  std::string Text(const std::string& server) {
    std::string text;
    for (const StoredServerLog& each : Stored(server)) text += each.part.text;
    return text;
  }

  const std::string url = SharedPostgres().NewDatabase();
  std::unique_ptr<Leadership> leadership;
  std::unique_ptr<PostgresServerLogStore> logs;
};

TEST_CASE("a server's log is found in the order in which it came, over its node managers, and no other server's") {
  Logging of;
  of.Put("gpu-1", 0, "one\n");
  of.Put("gpu-2", 0, "other\n");
  of.Put("gpu-1", 4, "two\n");
  of.Put("gpu-1", 0, "three\n", "def");
  CHECK(of.Text("gpu-1") == "one\ntwo\nthree\n");
  CHECK(of.Text("gpu-3").empty());
  const auto stored = of.Stored("gpu-1");
  REQUIRE(stored.size() == 3);
  CHECK(stored[1].part == ServerLogPart{"gpu-1", "abc", 4, "two\n"});
  CHECK(stored[2].part.incarnation == "def");
  REQUIRE(of.Stored("gpu-1", stored[1].number).size() == 1);
}

TEST_CASE("a part of a log that comes twice is stored once") {
  Logging of;
  of.Put("gpu-1", 0, "one\n");
  of.Put("gpu-1", 0, "one\n");
  CHECK(of.Text("gpu-1") == "one\n");
}

TEST_CASE("the end of each server's log is kept") {
  Logging of;
  of.Put("quiet", 0, "quiet\n");
  const std::string text(kServerLogKeptBytes / 4, 'x');
  for (int i = 0; i < 6; ++i) of.Put("busy", i * kServerLogKeptBytes / 4, text);
  const auto stored = of.Stored("busy");
  REQUIRE(stored.size() == 4);
  CHECK(stored.front().part.position == 2 * kServerLogKeptBytes / 4);
  CHECK(of.Text("quiet") == "quiet\n");
}

TEST_CASE("what a server logged long ago goes while others log") {
  Logging of;
  of.Put("gone", 0, "long ago\n");
  of.Put("quiet", 0, "yesterday\n");
  {
    Connection connection(of.url, std::nullopt);
    pqxx::work transaction(connection.get());
    transaction.exec("UPDATE server_log SET stored_at = now() - interval '31 days' WHERE server = 'gone'");
    transaction.exec("UPDATE server_log SET stored_at = now() - interval '29 days' WHERE server = 'quiet'");
    transaction.commit();
  }
  of.Put("busy", 0, "now\n");
  CHECK(of.Text("gone").empty());
  CHECK(of.Text("quiet") == "yesterday\n");
}

TEST_CASE("a master that leads no longer stores nothing that servers log") {
  Logging of;
  PostgresServerLogStore old(of.url, of.leadership->epoch() - 1);
  CHECK_FALSE(old.Put({"gpu-1", "abc", 0, "one\n"}).has_value());
  CHECK(of.Text("gpu-1").empty());
}

}  // namespace
}  // namespace espalier::master
