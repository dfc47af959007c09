#include "searchplan/plan/step_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <random>
#include <set>

#include "searchplan/plan/plan_dump.h"
#include "tests/support/random_seed.h"
#include "tests/unit/summary/state_builder.h"

namespace espalier::master {
namespace {

constexpr std::int64_t kNodes = 3;
constexpr std::int64_t kSteps = 30;

// The same, step by step.
using PlainSet = std::set<std::pair<std::int64_t, std::int64_t>>;

struct Both {
  StepSet steps;
  PlainSet plain;
};

StepRange RandomRange(std::mt19937& generator) {
  const auto below = [&](std::int64_t limit) { return static_cast<std::int64_t>(generator() % limit); };
  return {PlanNodeId{1 + below(kNodes)}, Step{below(kSteps)}, Step{below(kSteps)}};
}

Both RandomSet(std::mt19937& generator) {
  Both both;
  for (auto count = generator() % 12; count > 0; --count) {
    const StepRange range = RandomRange(generator);
    both.steps.Add(range);
    for (auto step = range.from.value + 1; step <= range.to.value; ++step) both.plain.emplace(range.node.value, step);
  }
  return both;
}

void CheckEqual(const StepSet& steps, const PlainSet& plain) {
  PlainSet listed;
  const std::vector<StepRange> ranges = steps.Ranges();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const StepRange& range = ranges[i];
    CHECK(range.from < range.to);
    if (i > 0 && ranges[i - 1].node == range.node) CHECK(ranges[i - 1].to < range.from);
    for (auto step = range.from.value + 1; step <= range.to.value; ++step) listed.emplace(range.node.value, step);
  }
  CHECK(listed == plain);
  CHECK(steps.Count() == static_cast<std::int64_t>(plain.size()));
}

}  // namespace

TEST_CASE("step sets are sets of steps") {
  const std::uint64_t seed = RandomSeed("step sets");
  std::mt19937 generator(seed);
  for (int round = 0; round < 500; ++round) {
    const Both a = RandomSet(generator);
    const Both b = RandomSet(generator);
    CheckEqual(a.steps, a.plain);
    const StepRange range = RandomRange(generator);
    const auto inside = std::count_if(a.plain.begin(), a.plain.end(), [&](const auto& step) {
      return step.first == range.node.value && step.second > range.from.value && step.second <= range.to.value;
    });
    CHECK(a.steps.CountIn(range) == inside);
    CHECK(a.steps.Contains(range.node, range.to) == a.plain.contains({range.node.value, range.to.value}));
    PlainSet both;
    PlainSet left;
    std::set_intersection(a.plain.begin(), a.plain.end(), b.plain.begin(), b.plain.end(),
                          std::inserter(both, both.end()));
    std::set_difference(a.plain.begin(), a.plain.end(), b.plain.begin(), b.plain.end(),
                        std::inserter(left, left.end()));
    CheckEqual(Intersection(a.steps, b.steps), both);
    CheckEqual(Difference(a.steps, b.steps), left);
  }
}

TEST_CASE("a lineage's ranges go from Init to the step, root first") {
  StateBuilder builder;
  const TrialId trial = builder.AddTrial(builder.AddStudy(), "MultiStep(0.1, [40, 60], gamma=0.1)", 80);
  const SearchPlan& plan = builder.state.plans.begin()->second;
  const PlanNodeId leaf = builder.state.trials.at(trial).leaf;
  const std::vector<PlanNodeId> nodes = LineageTo(plan, leaf);
  REQUIRE(nodes.size() == 3);
  CHECK(LineageRanges(plan, leaf, Step{70}) == std::vector<StepRange>{{nodes[0], Step{0}, Step{40}},
                                                                      {nodes[1], Step{40}, Step{60}},
                                                                      {nodes[2], Step{60}, Step{70}}});
  CHECK(LineageRanges(plan, leaf, Step{40}) == std::vector<StepRange>{{nodes[0], Step{0}, Step{40}}});
  CHECK(LineageRanges(plan, leaf, Step{0}).empty());
}

TEST_CASE("a plan's dump shows its tree and what is known at its points") {
  StateBuilder builder;
  const StudyId study = builder.AddStudy();
  const TrialId multi = builder.AddTrial(study, "MultiStep(0.1, [40, 60], gamma=0.5)", 80);
  const TrialId constant = builder.AddTrial(study, "0.1", 80);
  builder.Claimed(constant, 40);
  builder.AddClaim(constant, 80);
  builder.Trained({study}, constant, 0, 50);
  builder.StoreCheckpoint(constant, 40);
  builder.Change(multi, SetFailure{builder.On(multi, 45), Failure{Failure::Kind::kDiverged, "loss is nan"}});
  CHECK(DumpPlan(builder.state.plans.begin()->second) ==
        "plan 1 trainer=mlp data=digits device_kind=cpu scope=study\n"
        "node 1 start=0 bs=32 lr=0.1 checkpoints=[40] metrics=[40] trained=[run 1: 0..50] "
        "claims=[1@40:done 2@80:waiting]\n"
        "  node 2 start=40 lr=0.05 failures=[45:diverged]\n"
        "    node 3 start=60 lr=0.025\n");
}

}  // namespace espalier::master
