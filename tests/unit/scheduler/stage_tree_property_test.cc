// Properties of stage trees on random plans, against what going step by step finds.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/random_plan.h"
#include "tests/support/rounds.h"
#include "tests/unit/scheduler/step_by_step.h"

namespace espalier {
namespace {

constexpr std::uint64_t kTreeSeeds = Rounds(5000);

// The points whose training the stages hold, as often as they do.
std::multiset<Point> TrainedBy(const StageTree& tree) {
  std::multiset<Point> points;
  for (const Stage& stage : tree.stages) {
    for (Step step = stage.from + 1; step <= stage.to; step = step + 1) points.insert({stage.node, step});
  }
  return points;
}

}  // namespace

TEST_CASE("the stage tree holds exactly the claimed, unfinished, unpromised work, each step once") {
  for (std::uint64_t seed = 1; seed <= kTreeSeeds; ++seed) {
    CAPTURE(seed);
    const RandomPlan made = RandomPlanMaker(seed).Make();
    const StageTree tree = BuildStageTree(made.plan, made.runs);
    CAPTURE(Print(tree));
    const std::set<Point> work = AllWork(made.plan, made.runs);
    REQUIRE(TrainedBy(tree) == std::multiset<Point>(work.begin(), work.end()));
  }
}

TEST_CASE("each stage begins, ends and serves as going step by step finds") {
  for (std::uint64_t seed = 1; seed <= kTreeSeeds; ++seed) {
    CAPTURE(seed);
    const RandomPlan made = RandomPlanMaker(seed).Make();
    const StageTree tree = BuildStageTree(made.plan, made.runs);
    CAPTURE(Print(tree));
    REQUIRE(IsLinkedWell(tree));
    REQUIRE((FactsOf(tree) == ExpectedStages(made.plan, made.runs)));
  }
}

TEST_CASE("the stage tree does not depend on the order in which runs came") {
  for (std::uint64_t seed = 1; seed <= kTreeSeeds; ++seed) {
    CAPTURE(seed);
    RandomPlan made = RandomPlanMaker(seed).Make();
    const StageTree tree = BuildStageTree(made.plan, made.runs);
    std::reverse(made.runs.begin(), made.runs.end());
    REQUIRE(BuildStageTree(made.plan, made.runs) == tree);
  }
}

}  // namespace espalier
