#include "master/core/views/forecast_times.h"

#include <catch2/catch.hpp>

#include "scheduler/cost_features.h"
#include "tests/support/plan_builder.h"

namespace espalier::master {
namespace {

constexpr double kSetUp = 1000;
constexpr double kLoad = 300;
constexpr double kSave = 70;
constexpr double kEvaluate = 20;  // a step takes 1

// A trunk, node 1, that node 2 leaves at 40 and node 3 at 60; each cost is the same everywhere, and measured elsewhere.
struct Tree {
  Tree() {
    plan.Node(1, 0, 0).Node(2, 1, 40).Node(3, 1, 60);
    const auto measure = [&](CostKind kind, double seconds) {
      costs.Replace(kind, FeaturesOf(plan.plan().Node(PlanNodeId{1})), {},
                    {10, static_cast<std::int64_t>(10 * seconds * 1e6)});
    };
    measure(CostKind::kStep, 1);
    measure(CostKind::kSetUp, kSetUp);
    measure(CostKind::kLoad, kLoad);
    measure(CostKind::kSave, kSave);
    measure(CostKind::kEvaluate, kEvaluate);
  }

  LineageToTrain To(int leaf, std::int64_t horizon) const {
    return {.plan = &plan.plan(),
            .leaf = PlanNodeId{leaf},
            .horizon = Step{horizon},
            .asked = {Step{horizon}},
            .evaluate_every = every,
            .evaluation = "evaluation",
            .costs = &costs};
  }
  TimesToTrain Of(const std::vector<LineageToTrain>& lineages) const {
    return TimesOf(lineages, trained, answered).value();
  }
  double SlotTime(const std::vector<LineageToTrain>& lineages) const { return Of(lineages).slot_time.count(); }
  double CriticalPath(const std::vector<LineageToTrain>& lineages) const { return Of(lineages).critical_path.count(); }

  TestPlan plan;
  CostSums costs;
  StepSet trained;
  std::set<EvaluatedPoint> answered;
  std::int64_t every = 0;
};

}  // namespace

TEST_CASE("a lineage is forecast with its beginning, its evaluation and the save at its end") {
  const Tree tree;
  CHECK(tree.SlotTime({tree.To(2, 80)}) == Approx(kSetUp + 80 + kEvaluate + kSave));
  CHECK(tree.CriticalPath({tree.To(2, 80)}) == Approx(kSetUp + 80 + kEvaluate + kSave));
}

TEST_CASE("a lineage that leaves another is forecast with a load where it does, in whatever order they come") {
  const Tree tree;
  const double together = (kSetUp + 80 + kEvaluate + kSave) + (kLoad + 40 + kEvaluate + kSave);
  CHECK(tree.SlotTime({tree.To(1, 80), tree.To(2, 80)}) == Approx(together));
  CHECK(tree.SlotTime({tree.To(2, 80), tree.To(1, 80)}) == Approx(together));
  CHECK(tree.CriticalPath({tree.To(1, 80), tree.To(2, 80)}) == Approx(kSetUp + 80 + kEvaluate + kSave));
}

TEST_CASE("a lineage that ends on the way of another is forecast with an evaluation alone") {
  const Tree tree;
  const double longest = kSetUp + 90 + kEvaluate + kSave;
  CHECK(tree.SlotTime({tree.To(1, 50), tree.To(3, 90)}) == Approx(longest + kEvaluate));
  CHECK(tree.SlotTime({tree.To(3, 90), tree.To(1, 50), tree.To(1, 50)}) == Approx(longest + kEvaluate));
}

TEST_CASE("what goes on from what is trained is forecast with a load instead of a set-up") {
  Tree tree;
  tree.trained.Add({PlanNodeId{1}, Step{0}, Step{55}});
  CHECK(tree.SlotTime({tree.To(1, 80)}) == Approx(kLoad + 25 + kEvaluate + kSave));
  CHECK(tree.SlotTime({tree.To(2, 80)}) == Approx(kLoad + 40 + kEvaluate + kSave));
  CHECK(tree.SlotTime({tree.To(1, 55)}) == Approx(kLoad + kEvaluate));
  tree.answered.insert({{PlanNodeId{1}, Step{55}}, "evaluation"});
  CHECK(tree.SlotTime({tree.To(1, 55)}) == 0);
}

TEST_CASE(
    "evaluations at a study's period are forecast where steps are trained, once, and not twice at a trial's end") {
  Tree tree;
  tree.every = 20;
  CHECK(tree.SlotTime({tree.To(1, 80)}) == Approx(kSetUp + 80 + 4 * kEvaluate + kSave));
  CHECK(tree.SlotTime({tree.To(1, 90)}) == Approx(kSetUp + 90 + 5 * kEvaluate + kSave));
  CHECK(tree.SlotTime({tree.To(1, 80), tree.To(2, 80)}) ==
        Approx(kSetUp + kLoad + 120 + (4 + 2) * kEvaluate + 2 * kSave));
  tree.trained.Add({PlanNodeId{1}, Step{0}, Step{40}});
  CHECK(tree.SlotTime({tree.To(1, 80)}) == Approx(kLoad + 40 + 2 * kEvaluate + kSave));
}

TEST_CASE("costs that were never measured are left out, and without a measured step nothing is said") {
  Tree tree;
  tree.costs = {};
  CHECK_FALSE(TimesOf({tree.To(1, 80)}, tree.trained, {}));
  tree.costs.Replace(CostKind::kStep, FeaturesOf(tree.plan.plan().Node(PlanNodeId{1})), {}, {1, 2'000'000});
  CHECK(tree.SlotTime({tree.To(1, 80)}) == Approx(160));
  tree.costs = {};
  tree.trained.Add({PlanNodeId{1}, Step{0}, Step{80}});
  CHECK(tree.SlotTime({tree.To(1, 80)}) == 0);  // no step is left
}

TEST_CASE("where a node was measured a forecast takes its own costs") {
  Tree tree;
  tree.plan.Change(SetMeasurement{PlanNodeId{2}, CostKind::kStep, {1, 3'000'000}});
  tree.plan.Change(SetMeasurement{PlanNodeId{2}, CostKind::kEvaluate, {1, 500'000}});
  CHECK(tree.SlotTime({tree.To(2, 80)}) == Approx(kSetUp + 40 + 3 * 40 + 0.5 + kSave));
}

}  // namespace espalier::master
