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

TEST_CASE("what answers a claim stays, whatever fails later") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 10);
  const auto fail = [&](Point point, Failure::Kind kind) {
    for (const PlanChange& change : RecordFailure(plan, point, {kind, "later"})) plan.Change(change);
  };
  plan.Measured(1, 10);
  fail(At(2, 15), Failure::Kind::kFinished);
  REQUIRE(AnsweredAt(plan, At(2, 20)) == At(2, 14));
  const Failure::Kind kind = GENERATE(Failure::Kind::kDiverged, Failure::Kind::kFinished, Failure::Kind::kTrainer,
                                      Failure::Kind::kOutOfMemory, Failure::Kind::kCrash);
  const Point point = GENERATE(At(1, 1), At(1, 5), At(1, 10), At(2, 11), At(2, 14), At(2, 15), At(2, 16), At(2, 30));
  fail(point, kind);
  CHECK(AnsweredAt(plan, At(2, 20)) == At(2, 14));
  CHECK(AnsweredAt(plan, At(1, 10)) == At(1, 10));
}

TEST_CASE("a training may be finished only where it had not come further on any lineage") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 10).Node(3, 1, 4).Node(4, 3, 20);
  const Failure finished{Failure::Kind::kFinished, "no better"};
  const auto kind_at = [&](Point point) {
    const PlanEdit recorded = RecordFailure(plan, point, finished);
    REQUIRE(recorded.size() == 1);
    return std::get<SetFailure>(recorded.front()).failure->kind;
  };
  SECTION("it had been measured beyond, under another plan node") { plan.Measured(2, 12); }
  SECTION("it was at this very step") { plan.Measured(1, 8); }
  SECTION("its state was stored beyond, and has been evicted") {
    plan.Checkpoint(1, 9).Change(DropCheckpoint{At(1, 9), "file"});
  }
  SECTION("it had diverged beyond") { plan.Change(SetFailure{At(2, 12), {{Failure::Kind::kDiverged, "nan"}}}); }
  SECTION("it had been finished beyond") { plan.Change(SetFailure{At(2, 12), {finished}}); }
  CHECK(kind_at(At(1, 8)) == Failure::Kind::kTrainer);
  CHECK(kind_at(At(3, 8)) == Failure::Kind::kFinished);  // has parted before
  CHECK(kind_at(At(4, 21)) == Failure::Kind::kFinished);
}

TEST_CASE("where training fails nothing beyond is said to fail, too") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 10);
  plan.Change(SetFailure{At(1, 5), Failure{Failure::Kind::kTrainer, "no data"}});
  CHECK(RecordFailure(plan, At(2, 12), {Failure::Kind::kDiverged, "nan"}).empty());
  CHECK(RecordFailure(plan, At(1, 5), {Failure::Kind::kDiverged, "nan"}).empty());
  CHECK(RecordFailure(plan, At(1, 4), {Failure::Kind::kDiverged, "nan"}).size() == 1);
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
