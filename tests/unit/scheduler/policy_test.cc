#include "scheduler/policy.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "tests/support/forest.h"

namespace espalier {
namespace {

View ViewOf(std::vector<PlannedTree> trees, int idle_slots) {
  View view{.trees = std::move(trees), .idle_slots = {}, .runs = {}};
  for (int i = 0; i < idle_slots; ++i) view.idle_slots.push_back({"server", i});
  return view;
}

std::vector<std::string> Orders(std::string_view policy, const View& view) {
  std::vector<std::string> orders;
  for (const Action& action : MakePolicy(policy).value()->Decide(view, Time{})) orders.push_back(Print(action));
  return orders;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("actions print what they order") {
  CHECK(Print(StartRun{0, {1, 2}, {"server", 3}}) == "start tree 0 stages 1 2 on server/3");
  CHECK(Print(PreemptRun{RunId{7}}) == "preempt run 7");
}

TEST_CASE("an unknown policy is refused with the list of those known") {
  const auto policy = MakePolicy("fifo");
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().code == ErrorCode::kInvalidArgument);
  CHECK(policy.error().message == "no policy 'fifo'; expected one of critical_path, breadth_first, throughput");
}

TEST_CASE("critical path starts the longest ready paths of all trees, one a slot") {
  const View view = ViewOf({Forest({-1, 0, 0, -1}, {10, 5, 7, 1}), Forest({-1, -1}, {12, 20})}, 3);
  CHECK(Orders("critical_path", view) == Strings{"start tree 1 stages 1 on server/0",
                                                 "start tree 0 stages 0 2 on server/1",
                                                 "start tree 1 stages 0 on server/2"});
}

TEST_CASE("no policy starts what hangs off a path or waits for a promise") {
  PlannedTree planned = Forest({-1, 0, 0, -1}, {10, 5, 7, 50});
  planned.tree.stages[3].source = FromPromise{RunId{7}, {PlanNodeId{4}, Step{1}}};
  for (const std::string_view policy : {"critical_path", "breadth_first", "throughput"}) {
    CAPTURE(policy);
    CHECK(Orders(policy, ViewOf({planned}, 3)).size() == 1);
    CHECK(Orders(policy, ViewOf({planned}, 0)).empty());
    CHECK(Orders(policy, ViewOf({}, 3)).empty());
  }
}

TEST_CASE("breadth-first starts at the earliest step, however short, and goes on through first children") {
  PlannedTree planned = Forest({-1, -1, 1, 1, 2}, {100, 1, 1, 50, 1});
  planned.tree.stages[0].from = Step{30};
  planned.tree.stages[0].source = FromCheckpoint{{PlanNodeId{1}, Step{30}}};
  CHECK(Orders("breadth_first", ViewOf({planned}, 2)) ==
        Strings{"start tree 0 stages 1 2 4 on server/0", "start tree 0 stages 0 on server/1"});
}

TEST_CASE("throughput starts what most stages wait for, and goes on so") {
  const PlannedTree planned = Forest({-1, -1, 1, 1, 3, 3}, {100, 1, 1, 1, 1, 1});
  CHECK(Orders("throughput", ViewOf({planned}, 2)) ==
        Strings{"start tree 0 stages 1 3 4 on server/0", "start tree 0 stages 0 on server/1"});
}

TEST_CASE("among stages with equally many below, throughput starts what most trials need") {
  PlannedTree planned = Forest({-1, -1}, {5, 1});
  planned.tree.stages[0].trials = {TrialId{1}};
  planned.tree.stages[1].trials = {TrialId{2}, TrialId{3}};
  CHECK(Orders("throughput", ViewOf({planned}, 1)) == Strings{"start tree 0 stages 1 on server/0"});
}

TEST_CASE(
    "every policy orders chains of stages that begin ready, no stage or slot twice, and leaves no slot idle in vain") {
  std::mt19937_64 random(1);
  std::vector<int> parents(6, -1);
  do {
    std::vector<double> times;
    for (int i = 0; i < 6; ++i) times.push_back(std::uniform_int_distribution<int>(1, 5)(random));
    const PlannedTree planned = Forest(parents, times);
    const int slots = std::uniform_int_distribution<int>(1, 4)(random);
    const int roots = std::count(parents.begin(), parents.end(), -1);
    for (const std::string_view policy : {"critical_path", "breadth_first", "throughput"}) {
      std::set<std::size_t> stages;
      std::set<SlotId> used;
      const auto actions = MakePolicy(policy).value()->Decide(ViewOf({planned}, slots), Time{});
      REQUIRE(static_cast<int>(actions.size()) == std::min(slots, roots));
      for (const Action& action : actions) {
        const auto& start = std::get<StartRun>(action);
        REQUIRE(used.insert(start.slot).second);
        REQUIRE(IsReady(planned.tree, start.stages.front()));
        REQUIRE(planned.tree.stages[start.stages.back()].children.empty());
        for (std::size_t i = 0; i < start.stages.size(); ++i) {
          REQUIRE(stages.insert(start.stages[i]).second);
          if (i > 0) REQUIRE(planned.tree.stages[start.stages[i]].parent == start.stages[i - 1]);
        }
      }
    }
  } while (NextForest(parents));
}

}  // namespace espalier
