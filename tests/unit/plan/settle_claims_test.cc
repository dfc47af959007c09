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

TEST_CASE("claims beyond the end of a training that its trainer finished are answered with its last step's metrics") {
  TestPlan plan;
  plan.Node(1, 0, 0).Node(2, 1, 10).Node(3, 1, 4);
  plan.Claim(1, 2, 20).Claim(2, 2, 30).Claim(3, 1, 10).Claim(4, 3, 10).Claim(5, 2, 20, 2, "another");
  plan.Measured(1, 10);
  SECTION("within a plan node") {
    plan.Change(AddMetrics{At(2, 14), "evaluation", {{"loss", 0.25}}});
    plan.Change(SetFailure{At(2, 15), Failure{Failure::Kind::kFinished, "no better"}});
    CHECK(AnswerOf(plan, {.point = At(2, 20), .evaluation = "evaluation", .state = ClaimState::kDone}, {"loss"}) ==
          Metrics{{"loss", 0.25}});
  }
  SECTION("where a plan node begins, the last step is its parent's") {
    plan.Change(SetFailure{At(2, 11), Failure{Failure::Kind::kFinished, "no better"}});
    CHECK(AnswerOf(plan, {.point = At(2, 20), .evaluation = "evaluation", .state = ClaimState::kDone}, {"loss"}) ==
          *plan.plan().FindMetrics(At(1, 10), "evaluation"));
  }
  const auto state_of = [&](std::int64_t claim) { return SettledState(plan, plan.plan().claims.at(ClaimId{claim})); };
  CHECK(state_of(1) == ClaimState::kDone);
  CHECK(state_of(2) == ClaimState::kDone);
  CHECK(state_of(3) == ClaimState::kDone);
  CHECK_FALSE(state_of(4).has_value());  // has parted from it before
  CHECK(state_of(5) == ClaimState::kFailed);
  CHECK(WhyFailed(plan, plan.plan().claims.at(ClaimId{5})).find("where this evaluation was not made") !=
        std::string::npos);
}

TEST_CASE("an evaluation that failed at the last step of a finished training fails the claims beyond, and says why") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 10);
  plan.Change(SetFailure{At(1, 5), Failure{Failure::Kind::kFinished, "no better"}});
  plan.Change(SetEvaluationFailure{At(1, 4), "evaluation", "no such file"});
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
