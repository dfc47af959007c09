#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "searchplan/plan/record_result.h"
#include "tests/support/plan_builder.h"

namespace espalier {
namespace {

std::vector<std::int64_t> Settled(const PlanEdit& edit) {
  std::vector<std::int64_t> claims;
  for (const PlanChange& change : edit) claims.push_back(std::get<SettleClaim>(change).claim.value);
  return claims;
}

}  // namespace

TEST_CASE("a result settles the waiting claims of its own point, and no others") {
  TestPlan plan;
  plan.Node(1, 0, 0).Node(2, 1, 10);
  plan.Claim(1, 1, 10).Claim(2, 1, 10).Claim(3, 1, 20).Claim(4, 2, 20).Claim(5, 1, 10).Settle(5);
  CHECK(SettleClaimsAt(plan, At(1, 10)).empty());
  plan.Measured(1, 10);
  CHECK(Settled(SettleClaimsAt(plan, At(1, 10))) == std::vector<std::int64_t>{1, 2});
  CHECK(SettleClaimsAt(plan, At(1, 20)).empty());
  CHECK(SettleClaimsAt(plan, At(2, 20)).empty());
}

TEST_CASE("metrics of one evaluation settle no claim on another's") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 10).Claim(2, 1, 10, 2, "another");
  plan.Measured(1, 10, "another");
  CHECK(Settled(SettleClaimsAt(plan, At(1, 10))) == std::vector<std::int64_t>{2});
}

TEST_CASE("a failed evaluation fails the claims on it, and no claim on another's nor beyond the point") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 10).Claim(2, 1, 10, 2, "another").Claim(3, 1, 20);
  plan.Change(SetEvaluationFailure{At(1, 10), "evaluation", "no such file"});
  CHECK(Settled(SettleClaims(plan)) == std::vector<std::int64_t>{1});
  CHECK(SettledState(plan, plan.plan().claims.at(ClaimId{1})) == ClaimState::kFailed);
  CHECK(WhyFailed(plan, plan.plan().claims.at(ClaimId{1})) == "no such file");
}

TEST_CASE("looking at every point settles what looking at every claim does") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<std::uint64_t>(bound)); };
  for (int round = 0; round < 50; ++round) {
    TestPlan plan;
    plan.Node(1, 0, 0).Node(2, 1, 10).Node(3, 1, 20).Node(4, 2, 30);
    const auto any_point = [&] {
      const int node = 1 + below(4);
      return At(node, static_cast<int>(plan.plan().Node(PlanNodeId{node}).start.value) + 1 + below(5));
    };
    std::set<Point> points;
    for (int claim = 1; claim <= 30; ++claim) {
      const Point point = any_point();
      points.insert(point);
      plan.Claim(claim, static_cast<int>(point.node.value), static_cast<int>(point.step.value), 0,
                 below(3) == 0 ? "another" : "evaluation");
      if (below(4) == 0) plan.Settle(claim);
    }
    for (int i = 0; i < 5; ++i) {
      const Point point = any_point();
      plan.Change(AddMetrics{point, below(3) == 0 ? "another" : "evaluation", {{"loss", 0.5}}});
      if (below(3) == 0) plan.Change(SetEvaluationFailure{any_point(), "evaluation", "broken"});
    }
    if (below(2) == 0) plan.Change(SetFailure{any_point(), Failure{Failure::Kind::kTrainer, "no such file"}});
    std::vector<std::int64_t> by_point;
    for (const Point point : points) {
      for (const std::int64_t claim : Settled(SettleClaimsAt(plan, point))) by_point.push_back(claim);
    }
    std::sort(by_point.begin(), by_point.end());
    CHECK(by_point == Settled(SettleClaims(plan)));
  }
}

}  // namespace espalier
