// What only a database can do wrong.
#include "master/store/postgres_state_store.h"

#include <catch2/catch.hpp>
#include <future>

#include "master/store/embedded_sql.h"
#include "master/store/leadership.h"
#include "master/store/migrate.h"
#include "tests/conformance/state_store/shared_postgres.h"
#include "tests/support/edit_generator.h"

namespace espalier::master {
namespace {

struct Database {
  Database() : url(SharedPostgres().NewDatabase()) {
    REQUIRE(Migrate(url).has_value());
    auto acquired = Leadership::Acquire(url, "test", {}, {.lost = [](const Error&) {}});
    REQUIRE(acquired.has_value());
    leadership = *std::move(acquired);
    store = std::make_unique<PostgresStateStore>(url, leadership->epoch());
    REQUIRE(store->Load().has_value());
    for (int i = 0; i < 10; ++i) REQUIRE(store->Commit(generator.Next()).has_value());
  }
  std::string Query(const std::string& text) { return SharedPostgres().Run(url, text); }
  bool HoldsWhatMemoryDoes() {
    const Result<MasterState> loaded = store->Load();
    return loaded.has_value() && StoredPart(*loaded) == StoredPart(generator.state());
  }

  std::string url;
  std::unique_ptr<Leadership> leadership;
  std::unique_ptr<PostgresStateStore> store;
  EditGenerator generator{5};
};

TEST_CASE("a cut connection makes a commit unavailable, and the state can be recovered") {
  Database database;
  const MasterState before = StoredPart(database.generator.state());
  SharedPostgres().CutConnections(database.url);
  const StateEdit edit = database.generator.Next();
  const Result<void> committed = database.store->Commit(edit);
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().code == ErrorCode::kUnavailable);
  const Result<MasterState> loaded = database.store->Load();
  REQUIRE(loaded.has_value());
  CHECK((StoredPart(*loaded) == before));
  REQUIRE(database.store->Commit(edit).has_value());
  CHECK(database.HoldsWhatMemoryDoes());
}

TEST_CASE("a statement that is ended or cut in mid-commit stores nothing, and the state can be recovered") {
  const std::string end = GENERATE("pg_cancel_backend", "pg_terminate_backend");  // the first: as a timeout does
  Database database;
  const MasterState before = StoredPart(database.generator.state());
  const std::string tables = database.Query(
      "SELECT string_agg(tablename, ', ') FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'leadership'");
  auto blocker = std::async(std::launch::async, [&] {
    database.Query("BEGIN; LOCK TABLE " + tables +
                   " IN ACCESS EXCLUSIVE MODE;"
                   "DO $$ BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN END $$; COMMIT");
  });
  while (database.Query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "0") {
  }
  const StateEdit edit = database.generator.Next();
  auto commit = std::async(std::launch::async, [&] { return database.store->Commit(edit); });
  const std::string waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  while (database.Query("SELECT count(*) " + waiting) == "0") {
  }
  database.Query("SELECT " + end + "(pid) " + waiting);
  const Result<void> committed = commit.get();
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().code == ErrorCode::kUnavailable);
  database.Query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
  blocker.get();
  const Result<MasterState> loaded = database.store->Load();
  REQUIRE(loaded.has_value());
  CHECK((StoredPart(*loaded) == before));
  REQUIRE(database.store->Commit(edit).has_value());
  CHECK(database.HoldsWhatMemoryDoes());
}

TEST_CASE("a commit that fails after all its statements went well stores nothing, and the state can be recovered") {
  Database database;
  const MasterState before = StoredPart(database.generator.state());
  database.Query(
      "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not today'; END $$;"
      "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON service_user DEFERRABLE INITIALLY DEFERRED"
      " FOR EACH ROW EXECUTE FUNCTION fail()");
  const StateEdit edit{SetUser{{.name = "late", .team = "team", .token_sha256 = std::string(64, 'a')}}};
  const Result<void> committed = database.store->Commit(edit);
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().message.find("not today") != std::string::npos);
  const Result<MasterState> loaded = database.store->Load();
  REQUIRE(loaded.has_value());
  CHECK((StoredPart(*loaded) == before));
  database.Query("DROP TRIGGER at_commit ON service_user");
  CHECK(database.store->Commit(edit).has_value());
}

TEST_CASE("what was committed survives a crash of the server, and so does leadership") {
  Database database;
  SharedPostgres().Crash();
  CHECK(database.HoldsWhatMemoryDoes());
  REQUIRE(database.store->Commit(database.generator.Next()).has_value());
  CHECK(database.HoldsWhatMemoryDoes());
}

TEST_CASE("a digest that is stored with another body is refused") {
  Database database;
  database.Query("UPDATE configuration SET body = 'other'");
  const auto& plans = database.generator.state().plans;
  const auto plan =
      std::find_if(plans.begin(), plans.end(), [](const auto& each) { return !each.second.nodes.empty(); });
  const PlanNode& known = plan->second.nodes.begin()->second;
  const AddPlanNode again{.id = database.generator.state().next.plan_node,
                          .parent = known.id,
                          .start = known.start + 1000,
                          .configuration = known.configuration};
  const Result<void> committed = database.store->Commit({ChangePlan{plan->first, again}});
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().code == ErrorCode::kAborted);
}

TEST_CASE("an edit's length does not change how many statements it takes") {
  Database database;
  database.Query(
      "CREATE SEQUENCE statement_count MINVALUE 0;"
      "CREATE FUNCTION count_statement() RETURNS trigger LANGUAGE plpgsql AS"
      " $$ BEGIN PERFORM nextval('statement_count'); RETURN NULL; END $$;"
      "DO $$ DECLARE name text; BEGIN"
      " FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'leadership' LOOP"
      "  EXECUTE format('CREATE TRIGGER each AFTER INSERT OR UPDATE OR DELETE ON %I"
      " FOR EACH STATEMENT EXECUTE FUNCTION count_statement()', name);"
      " END LOOP; END $$");
  const StudyId study = *database.generator.state().running_studies.begin();
  std::int64_t number = std::ssize(database.generator.state().events.at(study));
  const auto statements_of = [&](int events) {
    StateEdit edit;
    for (int i = 0; i < events; ++i) edit.push_back(AddStudyEvent{study, ++number, TrialSubmitted{TrialId{number}}});
    const std::string count = "SELECT nextval('statement_count')";
    const std::int64_t before = std::stoll(database.Query(count));
    const auto committed = database.store->Commit(edit);
    INFO((committed ? std::string() : committed.error().message));
    REQUIRE(committed.has_value());
    return std::stoll(database.Query(count)) - before - 1;
  };
  const std::int64_t of_short = statements_of(2);
  CHECK(of_short >= 1);
  CHECK(statements_of(20'000) == of_short);
  CHECK(database.Query("SELECT count(*) FROM study_event WHERE study_id = " + std::to_string(study.value)) ==
        std::to_string(number));
}

TEST_CASE("text that is not UTF-8 is refused, and nothing of the edit is stored") {
  Database database;
  Study study = database.generator.state().studies.begin()->second;
  study.id = database.generator.state().next.study;
  study.specification.name = "\xff\xfe";
  const Result<void> committed = database.store->Commit({AddStudy{study}});
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().code == ErrorCode::kInvalidArgument);
  CHECK(database.HoldsWhatMemoryDoes());
}

TEST_CASE("migrating twice changes nothing") {
  Database database;
  REQUIRE(Migrate(database.url).has_value());
  CHECK(database.HoldsWhatMemoryDoes());
  CHECK(database.Query("SELECT count(*) FROM schema_migration") == std::to_string(EmbeddedMigrations().size()));
}

TEST_CASE("a schema that stands is migrated by the master that leads, and by no other") {
  const std::string url = SharedPostgres().NewDatabase();
  REQUIRE(Migrate(url).has_value());
  const auto leadership = Leadership::Acquire(url, "test", {}, {.lost = [](const Error&) {}}).value();
  // As if the newest migration were not there yet.
  const EmbeddedSql& newest = EmbeddedMigrations().back();
  SharedPostgres().Run(url, "DELETE FROM schema_migration WHERE name = '" + std::string(newest.name) +
                                "'; DROP TABLE retired_study, service_user, server_drain, scheduling_policy, "
                                "trainer_check, team, quota CASCADE");
  const auto has = [&](const std::string& table) {
    return SharedPostgres().Run(url, "SELECT to_regclass('" + table + "') IS NOT NULL") == "t";
  };
  CHECK(Migrate(url).has_value());
  CHECK_FALSE(has("service_user"));
  const Result<void> by_another = Migrate(url, leadership->epoch() + 1);
  REQUIRE_FALSE(by_another.has_value());
  CHECK(by_another.error().code == ErrorCode::kFailedPrecondition);
  CHECK_FALSE(has("service_user"));
  REQUIRE(Migrate(url, leadership->epoch()).has_value());
  CHECK(has("service_user"));
}

TEST_CASE("a database that a newer or another program made is refused, saying so") {
  Database database;
  database.Query("INSERT INTO schema_migration (version, name, sha256) VALUES (99, '0099_later', 'x')");
  Result<void> migrated = Migrate(database.url);
  REQUIRE_FALSE(migrated.has_value());
  CHECK(migrated.error().code == ErrorCode::kFailedPrecondition);
  CHECK(migrated.error().message.find("schema version 99") != std::string::npos);

  database.Query("DELETE FROM schema_migration WHERE version = 99; UPDATE schema_migration SET sha256 = 'x'");
  migrated = Migrate(database.url);
  REQUIRE_FALSE(migrated.has_value());
  CHECK(migrated.error().code == ErrorCode::kFailedPrecondition);
  CHECK(migrated.error().message.find("0001_first") != std::string::npos);
}

TEST_CASE("a database that does not keep text as UTF-8 is refused") {
  const Result<void> migrated = Migrate(SharedPostgres().NewDatabase("SQL_ASCII"));
  REQUIRE_FALSE(migrated.has_value());
  CHECK(migrated.error().code == ErrorCode::kFailedPrecondition);
}

TEST_CASE("every table says what it is for") {
  Database database;
  CHECK(database.Query("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace "
                       "AND obj_description(oid) IS NULL") == "0");
}

TEST_CASE("no server at all is unavailable") {
  PostgresStateStore store("host=/nowhere dbname=none", 1);
  const Result<MasterState> loaded = store.Load();
  REQUIRE_FALSE(loaded.has_value());
  CHECK(loaded.error().code == ErrorCode::kUnavailable);
  const Result<void> migrated = Migrate("host=/nowhere dbname=none");
  REQUIRE_FALSE(migrated.has_value());
  CHECK(migrated.error().code == ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace espalier::master
