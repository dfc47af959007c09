#include "master/store/plan_of_nodes.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/support/random_seed.h"

namespace espalier::master {

TEST_CASE("a node's plan is found, however plans and gaps lie among the nodes, and no node where there is none") {
  const std::uint64_t seed = RandomSeed("plans of nodes");
  std::mt19937_64 random(seed);
  PlanOfNodes found;
  std::map<PlanNodeId, PlanId> expected;
  std::int64_t id = 1;
  while (expected.size() < 2000) {
    id += random() % 20 == 0 ? 3 : 1;
    const PlanId plan{random() % 10 == 0 ? 2 : 1};
    found.Add(PlanNodeId{id}, plan);
    expected.emplace(PlanNodeId{id}, plan);
  }
  for (PlanNodeId node{0}; node.value <= id + 1; ++node.value) {
    const auto known = expected.find(node);
    if (known == expected.end()) {
      CHECK_THROWS_AS(found.Of(node), std::runtime_error);
    } else {
      CHECK(found.Of(node) == known->second);
    }
  }
}

}  // namespace espalier::master
