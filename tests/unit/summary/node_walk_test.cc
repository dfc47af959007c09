#include "master/core/views/node_walk.h"

#include <catch2/catch.hpp>

#include "tests/unit/summary/state_builder.h"

namespace espalier::master {

TEST_CASE("nodes are walked in turns, each once, those of plans that are not wanted never, though more are added") {
  StateBuilder s;
  std::vector<StudyId> studies;
  for (const int trials : {1500, 700, 2000, 3}) {
    studies.push_back(s.AddStudy());
    for (int i = 1; i <= trials; ++i) s.AddTrial(studies.back(), std::to_string(i), 10);
  }
  std::set<PlanNodeId> before;
  const auto is_wanted = [&](const MasterState&, const SearchPlan& plan) {
    return plan.identity.sharing.study != studies[1];
  };
  for (const auto& [id, plan] : s.state.plans) {
    if (!is_wanted(s.state, plan)) continue;
    for (const auto& [node_id, node] : plan.nodes) before.insert(node_id);
  }
  REQUIRE(before.size() == 3503);
  int turns = 0;
  std::set<PlanNodeId> visited;
  const StateReader read = [&](const auto& look) {
    look(s.state);
    s.AddTrial(studies[static_cast<std::size_t>(turns++) % 3], "0.5", 10);
    return Result<void>();
  };
  REQUIRE(WalkNodes(read, is_wanted, [&](const SearchPlan&, const PlanNode& node) {
    CHECK(visited.insert(node.id).second);
    before.erase(node.id);
  }));
  CHECK(before.empty());
  CHECK(turns == 2);
}

}  // namespace espalier::master
