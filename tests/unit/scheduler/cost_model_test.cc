#include "scheduler/cost_model.h"

#include <catch2/catch.hpp>

#include "scheduler/ridge_regression.h"
#include "tests/support/plan_builder.h"

namespace espalier {
namespace {

double StepSecondsOf(const SearchPlan& plan, int node) {
  return CostModel::FromPlan(plan).StepTime(plan.Node(PlanNodeId{node})).count();
}

Value Batch(std::int64_t size) { return size; }
Value Text(const char* text) { return std::string(text); }

}  // namespace

TEST_CASE("before anything is measured a step takes a second") {
  CHECK(StepSecondsOf(TestPlan{}.Node(1, 0, 0), 1) == 1);
  CHECK(StepSecondsOf(TestPlan{}.Node(1, 0, 0).Trained(1, 7, 0, 0, 5), 1) == 1);
}

TEST_CASE("where a node was trained its steps take the mean of what was measured") {
  CHECK(StepSecondsOf(TestPlan{}.Node(1, 0, 0).Trained(1, 7, 0, 30, 30).Trained(1, 8, 30, 40, 50), 1) == 2);
}

TEST_CASE("a clock that saw no time pass still gives a positive time") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 0, 0).Trained(1, 7, 0, 30, 0);
  CHECK(StepSecondsOf(plan, 1) > 0);
  CHECK(StepSecondsOf(plan, 2) > 0);
}

TEST_CASE("one measured node is what all others are expected to take") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0, {Batch(32)}).Node(2, 0, 0, {Batch(64)}).Trained(1, 7, 0, 10, 5);
  CHECK(StepSecondsOf(plan, 2) == Approx(0.5));
}

TEST_CASE("step times that are linear in a hyper-parameter are found between and beyond the measured nodes") {
  TestPlan plan;
  plan.Node(1, 0, 0, {Batch(32), 0.1}).Node(2, 0, 0, {Batch(64), 0.01}).Node(3, 0, 0, {Batch(128), 0.1});
  plan.Node(4, 0, 0, {Batch(96), 0.1}).Node(5, 0, 0, {Batch(256), 0.01});
  plan.Trained(1, 7, 0, 10, 10 * 0.42).Trained(2, 7, 0, 10, 10 * 0.74).Trained(3, 7, 0, 10, 10 * 1.38);
  CHECK(StepSecondsOf(plan, 4) == Approx(1.06).epsilon(0.001));
  CHECK(StepSecondsOf(plan, 5) == Approx(2.66).epsilon(0.001));
}

TEST_CASE("texts and booleans count by their values") {
  TestPlan plan;
  plan.Node(1, 0, 0, {Text("sgd"), false}).Node(2, 0, 0, {Text("adam"), false}).Node(3, 0, 0, {Text("sgd"), true});
  plan.Node(4, 0, 0, {Text("adam"), true}).Node(5, 0, 0, {Text("lion"), false});
  plan.Trained(1, 7, 0, 10, 10).Trained(2, 7, 0, 10, 20).Trained(3, 7, 0, 10, 30);
  CHECK(StepSecondsOf(plan, 4) == Approx(4).epsilon(0.001));
  CHECK(StepSecondsOf(plan, 5) > 0);
}

TEST_CASE("undeclared hyper-parameters count by their names") {
  TestPlan plan;
  const auto add = [&](int id, std::vector<std::pair<std::string, Value>> values) {
    Configuration configuration;
    for (auto& [name, value] : values) {
      configuration.functions.push_back({Constant{value}, Step{0}});
      configuration.undeclared.push_back(name);
    }
    plan.Change(AddPlanNode{.id = PlanNodeId{id}, .parent = {}, .start = Step{0}, .configuration = configuration});
  };
  // 1 s, 0.1 s for each of bs, 2 s if slow, 0.5 s for each of other.
  add(1, {{"bs", Batch(32)}});
  add(2, {{"bs", Batch(64)}});
  add(3, {{"bs", Batch(32)}, {"name", Text("slow")}});
  add(4, {{"bs", Batch(32)}, {"other", Batch(4)}});
  add(5, {{"bs", Batch(64)}, {"name", Text("slow")}, {"other", Batch(4)}});
  add(6, {{"bs", Batch(64)}, {"name", Text("else")}, {"unmeasured", Batch(4)}});
  plan.Trained(1, 7, 0, 10, 10 * 4.2).Trained(2, 7, 0, 10, 10 * 7.4);
  plan.Trained(3, 7, 0, 10, 10 * 6.2).Trained(4, 7, 0, 10, 10 * 6.2);
  CHECK(StepSecondsOf(plan, 5) == Approx(11.4).epsilon(0.001));
  CHECK(StepSecondsOf(plan, 6) == Approx(7.4).epsilon(0.001));
}

TEST_CASE("of thousands of hyper-parameters those count that differ among the measurements") {
  TestPlan plan;
  std::vector<Value> values(10'000, Value{0.5});
  const std::size_t telling = values.size() - 1;
  for (const int id : {1, 2, 3, 4}) {
    values[telling] = static_cast<double>(id);
    plan.Node(id, 0, 0, values);
  }
  plan.Trained(1, 7, 0, 10, 10).Trained(2, 7, 0, 10, 20).Trained(3, 7, 0, 10, 30);
  CHECK(StepSecondsOf(plan, 4) == Approx(4).epsilon(0.001));
}

TEST_CASE("what was measured longer counts more") {
  TestPlan plan;
  plan.Node(1, 0, 0, {Batch(32), 0.1}).Node(2, 0, 0, {Batch(32), 0.1}).Node(3, 0, 0, {Batch(32), 0.1});
  plan.Trained(1, 7, 0, 30, 30).Trained(2, 7, 0, 10, 50);
  CHECK(StepSecondsOf(plan, 3) == Approx(2));
}

TEST_CASE("an estimate is never below a hundredth of the shortest measured") {
  TestPlan plan;
  plan.Node(1, 0, 0, {Batch(10)}).Node(2, 0, 0, {Batch(20)}).Node(3, 0, 0, {Batch(1)});
  plan.Trained(1, 7, 0, 10, 10).Trained(2, 7, 0, 10, 100);
  CHECK(StepSecondsOf(plan, 3) == Approx(0.01));
}

TEST_CASE("a value is taken at the node's start") {
  TestPlan plan;
  plan.Node(1, 0, 0, {Batch(10)}).Node(2, 0, 0, {Batch(30)}).Trained(1, 7, 0, 10, 10).Trained(2, 7, 0, 10, 30);
  AddPlanNode change;
  change.id = PlanNodeId{3};
  change.parent = PlanNodeId{1};
  change.start = Step{10};
  change.configuration = Configuration{{{Linear{10, 2}, Step{5}}}};
  CHECK(StepSecondsOf(plan.Change(change), 3) == Approx(2).epsilon(0.001));
}

TEST_CASE("regression has an answer for features that depend on each other") {
  const std::vector<double> weights = FitRidge({{{1, 2}, 1, 1}, {{2, 4}, 2, 1}, {{3, 6}, 3, 1}}, 1e-6);
  CHECK(Predict(weights, {4, 8}) == Approx(4).epsilon(0.001));
  CHECK(FitRidge({{{}, 5, 2}}, 1e-6) == std::vector<double>{5});
}

TEST_CASE("an observation of weight two counts as two observations") {
  const std::vector<double> once = FitRidge({{{1, 3}, 1, 2}, {{2, 1}, 7, 1}, {{3, 0}, 2, 1}, {{5, 1}, 3, 1}}, 1e-6);
  const std::vector<double> twice =
      FitRidge({{{1, 3}, 1, 1}, {{1, 3}, 1, 1}, {{2, 1}, 7, 1}, {{3, 0}, 2, 1}, {{5, 1}, 3, 1}}, 1e-6);
  for (std::size_t i = 0; i < 3; ++i) CHECK(once[i] == Approx(twice[i]));
}

}  // namespace espalier
