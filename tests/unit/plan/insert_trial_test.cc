#include "searchplan/plan/insert_trial.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "searchplan/plan/invariants.h"
#include "tests/support/random_seed.h"

namespace espalier {
namespace {

using Sequences = std::map<std::string, Expression>;

constexpr Step kHorizon{20};

Schema TwoHyperParameters() {
  return {{{.name = "bs", .type = ValueType::kInteger, .default_value = std::int64_t{32}},
           {.name = "lr", .type = ValueType::kFloating, .default_value = 0.1}}};
}

// Of few values and few steps, so that many begin alike.
Sequences RandomTrial(std::mt19937_64& random) {
  const auto draw = [&](std::uint64_t least, std::uint64_t most) {
    return std::to_string(least + random() % (most - least + 1));
  };
  const std::string rate = "0." + draw(1, 3);
  const std::string forms[] = {rate, "MultiStep(" + rate + ", [" + draw(5, 9) + ", " + draw(10, 14) + "], gamma=0.1)",
                               "Piecewise([" + rate + ", 0." + draw(1, 3) + "], [" + draw(3, 12) + "])",
                               "Exponential(" + rate + ", 0.9)"};
  return {{"lr", ParseExpression(forms[random() % 4]).value()},
          {"bs", ParseExpression("MultiStep(32, [" + draw(4, 15) + "], gamma=2)").value()}};
}

// With the state of one of two points of another plan, or with Init.
std::optional<Origin> RandomOrigin(std::mt19937_64& random) {
  const auto drawn = static_cast<std::int64_t>(random() % 3);
  if (drawn == 0) return std::nullopt;
  return Origin{
      .plan = PlanId{2}, .point = {PlanNodeId{1000 + drawn}, Step{3}}, .lineage = DigestOf(std::to_string(drawn))};
}

struct Inserted {
  std::set<Digest128> nodes;        // by lineage
  std::map<int, Digest128> leaves;  // by the trial's number
  friend bool operator==(const Inserted&, const Inserted&) = default;
};

Inserted InsertAll(const std::vector<Sequences>& trials, const std::vector<int>& order,
                   const std::vector<std::optional<Origin>>& origins) {
  SearchPlan plan{.id = PlanId{1}, .identity = {.training = {.trainer = "toy", .schema = TwoHyperParameters()}}};
  PlanNodeId next{1};
  Inserted inserted;
  for (const int number : order) {
    const auto segments =
        ResolveTrial(plan.identity.training.schema, trials[static_cast<std::size_t>(number)], kHorizon).value();
    const std::optional<Origin>& origin = origins[static_cast<std::size_t>(number)];
    const Insertion insertion = InsertTrial(plan, segments, next, origin);
    next.value += static_cast<std::int64_t>(insertion.edit.size());
    for (const PlanChange& change : insertion.edit) Apply(plan, change);
    inserted.leaves[number] = plan.Node(insertion.leaf).lineage;
    const Origin* begins = OriginOf(plan, insertion.leaf);
    CHECK((begins == nullptr ? std::nullopt : std::optional(*begins)) == origin);
  }
  CHECK(CheckInvariants(plan).empty());
  for (const auto& [id, node] : plan.nodes) inserted.nodes.insert(node.lineage);
  return inserted;
}

}  // namespace

TEST_CASE("in whatever order trials are submitted, the plan is the same, and submitting again adds nothing") {
  std::mt19937_64 random(RandomSeed("order of submission"));
  for (int round = 0; round < 100; ++round) {
    std::vector<Sequences> trials;
    std::vector<int> order;
    std::vector<std::optional<Origin>> origins;
    for (int i = 0; i < 24; ++i) {
      trials.push_back(RandomTrial(random));
      order.push_back(i);
      origins.push_back(RandomOrigin(random));
    }
    const Inserted first = InsertAll(trials, order, origins);
    std::shuffle(order.begin(), order.end(), random);
    order.push_back(order.front());
    CHECK(InsertAll(trials, order, origins) == first);
    CHECK(first.nodes.size() < 24 * 3);  // some are shared
  }
}

TEST_CASE("a lineage spells its sequences: at each step the values that its trial asked for, whoever else is there") {
  std::mt19937_64 random(RandomSeed("lineages spell sequences"));
  const Schema schema = TwoHyperParameters();
  for (int round = 0; round < 100; ++round) {
    SearchPlan plan{.id = PlanId{1}, .identity = {.training = {.trainer = "toy", .schema = schema}}};
    std::vector<std::pair<Sequences, PlanNodeId>> trials;  // with the leaf
    for (int i = 0; i < 24; ++i) {
      Sequences sequences = RandomTrial(random);
      const auto segments = ResolveTrial(schema, sequences, kHorizon).value();
      const Insertion insertion =
          InsertTrial(plan, segments, PlanNodeId{static_cast<std::int64_t>(plan.nodes.size()) + 1});
      for (const PlanChange& change : insertion.edit) Apply(plan, change);
      trials.emplace_back(std::move(sequences), insertion.leaf);
    }
    for (const auto& [sequences, leaf] : trials) {
      const Sequence batch = Compile(sequences.at("bs"), ValueType::kInteger, kHorizon).value();
      const Sequence rate = Compile(sequences.at("lr"), ValueType::kFloating, kHorizon).value();
      for (Step step{0}; step < kHorizon; ++step.value) {
        // The call of Train that ends at the point uses the values at the step before.
        const PlanNode& node = plan.Node(PointOn(plan, leaf, step + 1).node);
        const Configuration configuration = node.configuration.Unpack();
        REQUIRE(At(configuration.functions.at(0), step) == At(batch, step));
        REQUIRE(At(configuration.functions.at(1), step) == At(rate, step));
      }
      REQUIRE(plan.Node(leaf).lineage ==
              LineageDigest(plan, plan.Node(leaf).parent, plan.Node(leaf).start, plan.Node(leaf).configuration));
    }
  }
}

TEST_CASE("lineages are shared only from the same beginning: Init, or the very same state of another plan") {
  const Sequences trial = {{"lr", ParseExpression("0.1").value()}};
  const Origin first{.plan = PlanId{2}, .point = {PlanNodeId{7}, Step{5}}, .lineage = DigestOf("first")};
  Origin later = first;
  later.point.step = Step{6};
  Origin other = first;
  other.lineage = DigestOf("other");
  const Inserted inserted =
      InsertAll({trial, trial, trial, trial, trial}, {0, 1, 2, 3, 4}, {{}, first, later, other, first});
  CHECK(inserted.nodes.size() == 4);
  CHECK(inserted.leaves.at(1) == inserted.leaves.at(4));
}

}  // namespace espalier
