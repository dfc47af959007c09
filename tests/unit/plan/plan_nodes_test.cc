#include "searchplan/plan/plan_nodes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/support/random_seed.h"

namespace espalier {
namespace {

PlanNode NodeOf(std::int64_t id) {
  return {.id = PlanNodeId{id}, .start = Step{id % 7}, .lineage = DigestOf("lineage " + std::to_string(id))};
}

// The nodes agree with a map of the same ones.
void CheckSame(const PlanNodes& nodes, const std::map<PlanNodeId, PlanNode>& expected) {
  CHECK(nodes.size() == expected.size());
  CHECK(nodes.empty() == expected.empty());
  CHECK(std::equal(nodes.begin(), nodes.end(), expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
  for (const auto& [id, node] : expected) {
    REQUIRE(nodes.contains(id));
    CHECK(nodes.at(id) == node);
    const PlanNode* found = nodes.FindLineage(node.lineage);
    REQUIRE(found != nullptr);
    CHECK(found->id == id);
  }
}

}  // namespace

TEST_CASE("no node is found where there is none") {
  const PlanNodes none;
  CHECK(none.begin() == none.end());
  CHECK_FALSE(none.contains(PlanNodeId{1}));
  CHECK(none.FindLineage(DigestOf("")) == nullptr);
  PlanNodes one;
  REQUIRE(one.Add(NodeOf(5)));
  for (const int id : {4, 6}) CHECK(one.find(PlanNodeId{id}) == one.end());
  CHECK(one.FindLineage(NodeOf(4).lineage) == nullptr);
}

TEST_CASE("nodes are found by id and by lineage, in whatever order they came") {
  const std::uint64_t seed = RandomSeed("plan nodes");
  std::mt19937_64 random(seed);
  const bool in_order = GENERATE(true, false);
  std::vector<std::int64_t> ids;
  for (std::int64_t id = 1; ids.size() < 3000; id += 1 + static_cast<std::int64_t>(random() % 3)) ids.push_back(id);
  if (!in_order) std::shuffle(ids.begin(), ids.end(), random);
  PlanNodes nodes;
  std::map<PlanNodeId, PlanNode> expected;
  for (const std::int64_t id : ids) {
    REQUIRE(nodes.Add(NodeOf(id)));
    expected.emplace(PlanNodeId{id}, NodeOf(id));
    if (random() % 500 == 0) CheckSame(nodes, expected);
  }
  CheckSame(nodes, expected);
  CHECK_FALSE(nodes.Add(NodeOf(ids.front())));
  CheckSame(nodes, expected);
}

TEST_CASE("a reference to a node outlives the nodes that are added behind it") {
  PlanNodes nodes;
  REQUIRE(nodes.Add(NodeOf(1)));
  const PlanNode& first = nodes.at(PlanNodeId{1});
  for (std::int64_t id = 2; id < 10'000; ++id) REQUIRE(nodes.Add(NodeOf(id)));
  CHECK(&first == &nodes.at(PlanNodeId{1}));
  CHECK(first == NodeOf(1));
}

TEST_CASE("a copy is equal, and goes its own way") {
  PlanNodes nodes;
  for (std::int64_t id = 1; id < 1000; ++id) REQUIRE(nodes.Add(NodeOf(id)));
  PlanNodes copy = nodes;
  CHECK(copy == nodes);
  copy.at(PlanNodeId{500}).results.Mutable().state_digests[Step{9}].sha256 = "state";
  CHECK_FALSE(copy == nodes);
  CHECK(nodes.at(PlanNodeId{500}).results.empty());
  copy = nodes;
  REQUIRE(copy.Add(NodeOf(1000)));
  CHECK_FALSE(copy == nodes);
  CHECK(nodes.FindLineage(NodeOf(1000).lineage) == nullptr);
}

TEST_CASE("lineages whose digests begin alike are told apart") {
  PlanNodes nodes;
  for (std::int64_t id = 1; id <= 100; ++id) {
    PlanNode node = NodeOf(id);
    node.lineage = {};
    node.lineage.bytes.back() = static_cast<std::uint8_t>(id);
    const bool is_new = nodes.Add(std::move(node));
    REQUIRE(is_new);
  }
  Digest128 wanted;
  for (std::int64_t id = 1; id <= 100; ++id) {
    wanted.bytes.back() = static_cast<std::uint8_t>(id);
    REQUIRE(nodes.FindLineage(wanted) != nullptr);
    CHECK(nodes.FindLineage(wanted)->id == PlanNodeId{id});
  }
  wanted.bytes.back() = 200;
  CHECK(nodes.FindLineage(wanted) == nullptr);
}

TEST_CASE("what is empty takes no room but a pointer's, and equals what was emptied") {
  Sparse<std::vector<int>> never;
  Sparse<std::vector<int>> emptied(std::vector<int>{1});
  emptied.Mutable().clear();
  CHECK(never == emptied);
  CHECK(sizeof(never) == sizeof(void*));
  CHECK(never.begin() == never.end());
  emptied.Mutable() = {1, 2};
  const Sparse<std::vector<int>> copy = emptied;
  emptied.Mutable().push_back(3);
  CHECK(*copy == std::vector<int>{1, 2});
}

}  // namespace espalier
