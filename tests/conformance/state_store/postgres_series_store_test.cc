// Training metrics in PostgreSQL: written as part of what the loop commits, read along a lineage.
#include "master/store/postgres_series_store.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "master/store/leadership.h"
#include "master/store/migrate.h"
#include "master/store/postgres_state_store.h"
#include "tests/conformance/state_store/shared_postgres.h"
#include "tests/support/edit_generator.h"

namespace espalier::master {
namespace {

// Some plan of two nodes at least.
struct Training {
  Training() : url(SharedPostgres().NewDatabase()) {
    REQUIRE(Migrate(url).has_value());
    leadership = Leadership::Acquire(url, "test", {}, {.lost = [](const Error&) {}}).value();
    store = std::make_unique<PostgresStateStore>(url, leadership->epoch());
    REQUIRE(store->Load().has_value());
    EditGenerator generator{5};
    const auto has_two = [](const auto& each) { return each.second.nodes.size() > 1; };
    while (std::ranges::none_of(generator.state().plans, has_two)) REQUIRE(store->Commit(generator.Next()).has_value());
    const auto found = std::ranges::find_if(generator.state().plans, has_two);
    plan = found->first;
    node = found->second.nodes.begin()->first;
    other_node = std::next(found->second.nodes.begin())->first;
    series = std::make_unique<PostgresSeriesStore>(url, leadership->epoch());
  }

  void Keep(PlanNodeId of, MetricSeries batch) {
    const Result<void> committed = store->Commit({AddTrainingMetrics{RunId{1}, plan, of, std::move(batch)}});
    REQUIRE(committed.has_value());
  }
  // The loss of steps of the node: twice the step.
  void KeepLosses(PlanNodeId of, const std::vector<std::int64_t>& steps) {
    MetricSeries batch{.names = {"loss"}, .steps = {}, .values = {}};
    for (const std::int64_t step : steps) {
      batch.steps.push_back(Step{step});
      batch.values.push_back(2.0 * static_cast<double>(step));
    }
    Keep(of, std::move(batch));
  }
  std::vector<StoredSeries> Read(const std::vector<StepRange>& lineage, std::int64_t after = 0) {
    const auto found = series->Read({lineage, after});
    INFO((found.has_value() ? "" : found.error().message));
    REQUIRE(found.has_value());
    return *found;
  }

  std::string url;
  std::unique_ptr<Leadership> leadership;
  std::unique_ptr<PostgresStateStore> store;
  std::unique_ptr<PostgresSeriesStore> series;
  PlanId plan;
  PlanNodeId node;
  PlanNodeId other_node;
};

using Steps = std::vector<Step>;

TEST_CASE("training metrics come back to the bit, each under its name, in the order in which they were stored") {
  Training of;
  const double infinity = std::numeric_limits<double>::infinity();
  of.Keep(of.node, {{"a \"name\"", "loss"}, {Step{1}, Step{2}}, {0.1, 1e-300, infinity, -infinity}});
  of.Keep(of.node, {{"loss"}, {Step{3}}, {std::nan("")}});
  const auto stored = of.Read({{of.node, Step{0}, Step{9}}});
  REQUIRE(stored.size() == 3);
  CHECK(stored[0].name == "a \"name\"");
  CHECK(stored[0].steps == Steps{Step{1}, Step{2}});
  CHECK(stored[0].values == std::vector{0.1, infinity});
  CHECK(stored[1].name == "loss");
  CHECK(stored[1].values == std::vector{1e-300, -infinity});
  CHECK(stored[2].steps == Steps{Step{3}});
  CHECK(std::isnan(stored[2].values.at(0)));
}

TEST_CASE("a lineage has what its nodes' steps returned, and what lies beyond it on a node belongs to others") {
  Training of;
  of.KeepLosses(of.node, {1, 2, 3, 4});
  of.KeepLosses(of.node, {5, 6});
  of.KeepLosses(of.other_node, {4, 5});
  const auto of_both = of.Read({{of.node, Step{0}, Step{3}}, {of.other_node, Step{3}, Step{4}}});
  REQUIRE(of_both.size() == 2);
  CHECK(of_both[0].steps == Steps{Step{1}, Step{2}, Step{3}});
  CHECK(of_both[0].values == std::vector{2.0, 4.0, 6.0});
  CHECK(of_both[1].steps == Steps{Step{4}});
  CHECK(of.Read({}).empty());
}

TEST_CASE("what is said again is stored once, and a longer batch of the same steps loses nothing") {
  Training of;
  of.KeepLosses(of.node, {1, 2});
  of.KeepLosses(of.node, {1, 2});
  of.KeepLosses(of.node, {1, 2, 3});
  const auto stored = of.Read({{of.node, Step{0}, Step{9}}});
  REQUIRE(stored.size() == 2);
  CHECK(stored[1].steps == Steps{Step{1}, Step{2}, Step{3}});
}

TEST_CASE("very long series are read in parts, one behind the other, and none is left out") {
  Training of;
  constexpr int kBatches = 50;
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<std::int64_t> steps;
    for (int step = 1; step <= 1000; ++step) steps.push_back(batch * 1000 + step);
    of.KeepLosses(of.node, steps);
  }
  const std::vector<StepRange> lineage{{of.node, Step{0}, Step{1'000'000}}};
  std::int64_t after = 0;
  std::int64_t next = 1;
  int parts = 0;
  for (auto part = of.Read(lineage); !part.empty(); part = of.Read(lineage, after), ++parts) {
    for (const StoredSeries& each : part) {
      for (const Step step : each.steps) CHECK(step == Step{next++});
    }
    after = part.back().number;
  }
  CHECK(next == kBatches * 1000 + 1);
  CHECK(parts == 3);
}

}  // namespace
}  // namespace espalier::master
