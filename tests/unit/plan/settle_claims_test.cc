#include <algorithm>
#include <catch2/catch.hpp>

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
  CHECK(SettleClaims(plan).empty());
  plan.Measured(1, 10);
  CHECK(Settled(SettleClaims(plan)) == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("metrics of one evaluation settle no claim on another's") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 10).Claim(2, 1, 10, 2, "another");
  plan.Measured(1, 10, "another");
  CHECK(Settled(SettleClaims(plan)) == std::vector<std::int64_t>{2});
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
  CHECK_FALSE(state_of(5).has_value());  // waits for its own evaluation of that state
}

TEST_CASE("a claim beyond a finished training waits for its own evaluation of the last state, another never made it") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 10).Claim(1, 2, 20, 1, "another");
  plan.Measured(1, 10).Change(SetFailure{At(2, 11), Failure{Failure::Kind::kFinished, "no better"}});
  const Claim& claim = plan.plan().claims.at(ClaimId{1});
  CHECK(WaitsAt(plan, claim) == At(1, 10));
  CHECK_FALSE(SettledState(plan, claim).has_value());
  SECTION("which answers it") {
    plan.Change(AddMetrics{At(1, 10), "another", {{"loss", 0.25}}});
    CHECK(SettledState(plan, claim) == ClaimState::kDone);
    CHECK(AnswerOf(plan, claim, {"loss"}) == Metrics{{"loss", 0.25}});
  }
  SECTION("or fails it, if training cannot get there again") {
    plan.Change(SetFailure{At(1, 5), Failure{Failure::Kind::kCrash, "no such file"}});
    CHECK(SettledState(plan, claim) == ClaimState::kFailed);
    CHECK(WhyFailed(plan, claim) == "no such file");
  }
}

TEST_CASE("there is no state beyond the end of a finished training") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 10, 1, std::string(kStateAlone));
  plan.Change(SetFailure{At(1, 5), Failure{Failure::Kind::kFinished, "no better"}});
  const Claim& claim = plan.plan().claims.at(ClaimId{1});
  CHECK(SettledState(plan, claim) == ClaimState::kFailed);
  CHECK(WhyFailed(plan, claim) == "training was finished at step 4, there is no state beyond: ask for 4 steps");
}

TEST_CASE("an evaluation that failed at the last step of a finished training fails the claims beyond, and says why") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 10);
  plan.Change(SetFailure{At(1, 5), Failure{Failure::Kind::kFinished, "no better"}});
  plan.Change(SetEvaluationFailure{At(1, 4), "evaluation", "no such file"});
  CHECK(SettledState(plan, plan.plan().claims.at(ClaimId{1})) == ClaimState::kFailed);
  CHECK(WhyFailed(plan, plan.plan().claims.at(ClaimId{1})) == "no such file");
}

}  // namespace espalier
