// What runs have printed, in PostgreSQL: who is shown what of it, and what is kept.
#include "master/store/postgres_output_store.h"

#include <catch2/catch.hpp>

#include "master/store/leadership.h"
#include "master/store/migrate.h"
#include "master/store/postgres_state_store.h"
#include "tests/conformance/state_store/shared_postgres.h"
#include "tests/support/edit_generator.h"

namespace espalier::master {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 30;

// Some study with a plan of two nodes at least, and runs that the test adds.
struct Printing {
  explicit Printing(std::int64_t bytes_max = kPlenty) : url(SharedPostgres().NewDatabase()) {
    REQUIRE(Migrate(url).has_value());
    leadership = Leadership::Acquire(url, "test", {}, {.lost = [](const Error&) {}}).value();
    store = std::make_unique<PostgresStateStore>(url, leadership->epoch());
    REQUIRE(store->Load().has_value());
    const auto plan = [&] {
      return std::ranges::find_if(generator.state().plans,
                                  [](const auto& each) { return each.second.nodes.size() > 1; });
    };
    while (plan() == generator.state().plans.end() || generator.state().offers.empty()) {
      REQUIRE(store->Commit(generator.Next()).has_value());
    }
    in_plan = plan()->first;
    node = plan()->second.nodes.begin()->first;
    other_node = std::next(plan()->second.nodes.begin())->first;
    study = generator.state().studies.begin()->first;
    next_run = generator.state().next.run;
    outputs = std::make_unique<PostgresOutputStore>(url, leadership->epoch(), bytes_max);
  }

  // It serves the study.
  Run AddRun(std::vector<PathStage> path, std::optional<Point> start = {}) {
    Run run;
    run.id = next_run;
    ++next_run.value;
    run.leadership = LeadershipId{77};
    run.plan = in_plan;
    run.slot = {"gpu", 1};
    run.incarnation = "abc";
    run.offer = generator.state().offers.begin()->first;
    run.path = std::move(path);
    run.start = start;
    run.start_file = start ? "file" : "";
    run.state = Ended{};
    REQUIRE(store->Commit({master::AddRun{run}, ChargeRun{run.id, {}, {}, {study}}}).has_value());
    return run;
  }
  Result<void> Put(const Run& run, std::vector<OutputPiece> pieces, const std::string& incarnation = "abc") {
    return outputs->Put({.run = {run.leadership, run.id}, .incarnation = incarnation, .pieces = std::move(pieces)});
  }
  std::vector<StoredOutput> Stored(Step to, std::int64_t after = 0) {
    return Stored(to, generator.state().studies.at(study).team, after);
  }
  std::vector<StoredOutput> Stored(Step to, const std::string& team, std::int64_t after = 0) {
    const auto found = outputs->Read({.lineage = {{node, Step{0}, to}}, .team = team, .after = after});
    INFO((found.has_value() ? "" : found.error().message));
    REQUIRE(found.has_value());
    return *found;
  }
  std::vector<std::string> Texts(Step to) {
    std::vector<std::string> texts;
    for (const StoredOutput& each : Stored(to)) texts.push_back(each.piece.text);
    return texts;
  }

  std::string url;
  std::unique_ptr<Leadership> leadership;
  std::unique_ptr<PostgresStateStore> store;
  std::unique_ptr<PostgresOutputStore> outputs;
  EditGenerator generator{5};
  PlanId in_plan;
  PlanNodeId node;
  PlanNodeId other_node;
  StudyId study;
  RunId next_run;
};

using Texts = std::vector<std::string>;

TEST_CASE("what is printed on the way to a lineage's steps is found, in order, and nothing else") {
  Printing of;
  const Run run = of.AddRun({{of.node, Step{2}, Step{5}}, {of.other_node, Step{5}, Step{9}}});
  const Run other = of.AddRun({{of.other_node, Step{0}, Step{3}}});
  REQUIRE(of.Put(run, {{Step{0}, 0, "init"}, {Step{3}, 4, "3"}, {Step{4}, 5, "4"}}).has_value());
  REQUIRE(of.Put(other, {{Step{0}, 0, "other"}, {Step{3}, 5, "other 3"}}).has_value());
  REQUIRE(of.Put(run, {{Step{5}, 6, "5"}, {Step{6}, 7, "6"}}).has_value());
  CHECK(of.Texts(Step{9}) == Texts{"init", "3", "4", "5"});
  CHECK(of.Texts(Step{4}) == Texts{"init", "3", "4"});
  CHECK(of.Texts(Step{2}).empty());  // the run began behind it
  const std::vector<StoredOutput> stored = of.Stored(Step{9});
  CHECK(stored[1].run == run.id);
  CHECK(stored[1].slot == SlotId{"gpu", 1});
  CHECK(stored[1].piece == OutputPiece{Step{3}, 4, "3"});
  const auto rest = of.Stored(Step{9}, stored[2].number);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].piece.text == "5");
}

TEST_CASE("what a run prints that only evaluates is found with its point") {
  Printing of;
  const Run run = of.AddRun({}, Point{of.node, Step{4}});
  REQUIRE(of.Put(run, {{Step{0}, 0, "evaluated"}}).has_value());
  CHECK(of.Texts(Step{4}) == Texts{"evaluated"});
  CHECK(of.Texts(Step{3}).empty());
}

TEST_CASE("what a run prints is shown to the teams that it serves alone") {
  Printing of;
  const Run run = of.AddRun({{of.node, Step{0}, Step{5}}});
  REQUIRE(of.Put(run, {{Step{1}, 0, "secret"}}).has_value());
  CHECK(of.Stored(Step{5}).size() == 1);
  CHECK(of.Stored(Step{5}, "a team that has no study").empty());
}

TEST_CASE("output that comes again changes nothing, and that of a run which nobody was given is refused") {
  Printing of;
  const Run run = of.AddRun({{of.node, Step{0}, Step{5}}});
  for (int i = 0; i < 2; ++i) REQUIRE(of.Put(run, {{Step{1}, 0, "once"}, {Step{2}, 4, "twice"}}).has_value());
  CHECK(of.Texts(Step{5}) == Texts{"once", "twice"});
  Run unknown = run;
  unknown.id = of.next_run;
  Run restored = run;
  restored.leadership = LeadershipId{78};
  for (const auto& refused : {of.Put(run, {{Step{1}, 9, "x"}}, "another"), of.Put(unknown, {{Step{1}, 9, "x"}}),
                              of.Put(restored, {{Step{1}, 9, "x"}})}) {
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::kNotFound);
  }
  CHECK(of.Texts(Step{5}) == Texts{"once", "twice"});
}

TEST_CASE("of much output a run's beginning and its end are kept") {
  Printing of;
  const Run run = of.AddRun({{of.node, Step{0}, Step{500}}});
  constexpr std::int64_t kBytes = 10'000;
  for (std::int64_t i = 0; i < 100; ++i) {
    REQUIRE(of.Put(run, {{Step{i + 1}, i * kBytes, std::string(kBytes, 'x')}}).has_value());
  }
  std::vector<std::int64_t> steps;
  for (const StoredOutput& each : of.Stored(Step{500})) steps.push_back(each.piece.step.value);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 100; ++i) {
    const bool is_first = i * kBytes < kOutputFirstBytes;
    const bool is_last = (i + 1) * kBytes > 100 * kBytes - kOutputLastBytes;
    if (is_first || is_last) expected.push_back(i + 1);
  }
  CHECK(steps == expected);
  CHECK(expected.size() < 30);
}

TEST_CASE("over all, the newest runs' output is kept") {
  Printing of(/*bytes_max=*/100'000);
  std::vector<Run> runs;
  for (int i = 0; i < 12; ++i) {
    runs.push_back(of.AddRun({{of.node, Step{0}, Step{5}}}));
    REQUIRE(of.Put(runs.back(), {{Step{1}, 0, std::string(10'000, 'x')}}).has_value());
  }
  std::vector<RunId> kept;
  for (const StoredOutput& each : of.Stored(Step{5})) kept.push_back(each.run);
  CHECK(kept.size() == 10);
  CHECK(kept.front() == runs[2].id);
  CHECK(kept.back() == runs[11].id);
}

TEST_CASE("a cut connection costs one call, and a master that leads no longer stores nothing") {
  Printing of;
  const Run run = of.AddRun({{of.node, Step{0}, Step{5}}});
  REQUIRE(of.Put(run, {{Step{1}, 0, "one"}}).has_value());
  SharedPostgres().CutConnections(of.url);
  const auto lost = of.Put(run, {{Step{1}, 3, "two"}});
  REQUIRE_FALSE(lost.has_value());
  CHECK(lost.error().code == ErrorCode::kUnavailable);
  REQUIRE(of.Put(run, {{Step{1}, 3, "two"}}).has_value());
  PostgresOutputStore deposed(of.url, of.leadership->epoch() - 1, kPlenty);
  CHECK_FALSE(
      deposed.Put({.run = {run.leadership, run.id}, .incarnation = "abc", .pieces = {{Step{1}, 6, "x"}}}).has_value());
  CHECK(of.Texts(Step{5}) == Texts{"one", "two"});
}

}  // namespace
}  // namespace espalier::master
