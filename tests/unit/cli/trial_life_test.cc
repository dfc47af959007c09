#include "client/cli/trial_life.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

v1::PlanNode Node(std::int64_t id, std::int64_t parent, std::int64_t start) {
  v1::PlanNode node;
  node.set_plan_node_id(id);
  node.set_parent_id(parent);
  node.set_start_step(start);
  return node;
}

v1::LineagePart Part(std::int64_t node, std::int64_t to) {
  v1::LineagePart part;
  part.set_plan_node_id(node);
  part.set_to_step(to);
  return part;
}

v1::ListedRun Run(std::int64_t from_node, std::int64_t from, std::int64_t to_node, std::int64_t to) {
  v1::ListedRun run;
  run.mutable_from()->set_plan_node_id(from_node);
  run.mutable_from()->set_step(from);
  run.mutable_to()->set_plan_node_id(to_node);
  run.mutable_to()->set_step(to);
  return run;
}

// Two branches of one beginning, and one of the first of them.
const NodesById kNodes{{1, Node(1, 0, 0)}, {2, Node(2, 1, 5)}, {3, Node(3, 1, 5)}, {4, Node(4, 2, 12)}};
const std::vector<v1::LineagePart> kWay{Part(1, 5), Part(2, 12), Part(4, 20)};

std::optional<Stretch> Of(const v1::ListedRun& run) { return StretchOn(kWay, kNodes, run); }

}  // namespace

TEST_CASE("of a run counts what it trained on the trial's way, and no branch beside it") {
  CHECK(Of(Run(1, 0, 4, 20)) == Stretch{0, 20});
  CHECK(Of(Run(1, 0, 3, 20)) == Stretch{0, 5});
  CHECK(Of(Run(1, 2, 2, 30)) == Stretch{2, 12});
  CHECK(Of(Run(1, 5, 2, 9)) == Stretch{5, 9});
  CHECK(Of(Run(4, 15, 4, 40)) == Stretch{15, 20});
  CHECK(Of(Run(1, 5, 3, 20)) == std::nullopt);
  CHECK(Of(Run(2, 12, 2, 30)) == std::nullopt);
  CHECK(Of(Run(7, 0, 7, 5)) == std::nullopt);
}

TEST_CASE("an evaluation on the trial's way trained no step of it") {
  CHECK(Of(Run(2, 9, 2, 9)) == Stretch{9, 9});
  CHECK(Of(Run(4, 20, 4, 20)) == Stretch{20, 20});
  CHECK(Of(Run(3, 9, 3, 9)) == std::nullopt);
  CHECK(Of(Run(4, 25, 4, 25)) == std::nullopt);
}

}  // namespace espalier
