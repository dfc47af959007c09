#include "searchplan/plan/plan_edit.h"

#include <catch2/catch.hpp>

#include "tests/support/plan_builder.h"

namespace espalier {

TEST_CASE("claims are found at their point, whatever has become of them") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(2, 1, 10).Claim(1, 1, 10).Claim(3, 1, 20).Settle(2);
  CHECK(plan.plan().ClaimsAt(At(1, 10)) == std::vector<ClaimId>{ClaimId{1}, ClaimId{2}});
  CHECK(plan.plan().ClaimsAt(At(1, 30)).empty());
  CHECK(plan.plan().waiting == std::set<ClaimId>{ClaimId{1}, ClaimId{3}});
}

TEST_CASE("of metrics the first stay, for each evaluation") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Measured(1, 10);
  plan.Change(AddMetrics{At(1, 10), "evaluation", {{"loss", 0.7}}});
  plan.Change(AddMetrics{At(1, 10), "another", {{"loss", 0.9}}});
  CHECK(*plan.plan().FindMetrics(At(1, 10), "evaluation") == Metrics{{"loss", 0.5}});
  CHECK(*plan.plan().FindMetrics(At(1, 10), "another") == Metrics{{"loss", 0.9}});
  CHECK(plan.plan().FindMetrics(At(1, 20), "evaluation") == nullptr);
}

TEST_CASE("the digest of a state outlives its checkpoint") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Checkpoint(1, 10);
  plan.Change(DropCheckpoint{At(1, 10), "file"});
  CHECK(plan.plan().FindCheckpoint(At(1, 10)) == nullptr);
  REQUIRE(plan.plan().FindStateDigest(At(1, 10)) != nullptr);
  CHECK(plan.plan().FindStateDigest(At(1, 10))->sha256 == "state");
}

TEST_CASE("the loss of a file that is no checkpoint any more drops none") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Checkpoint(1, 10);
  plan.Change(DropCheckpoint{At(1, 10), "an older file"}).Change(DropCheckpoint{At(1, 20), "file"});
  CHECK(plan.plan().FindCheckpoint(At(1, 10)) != nullptr);
}

TEST_CASE("what was set and is cleared leaves the node as if nothing had been") {
  const AttemptKey key{Step{10}, ""};
  TestPlan plan = TestPlan{}.Node(1, 0, 0);
  const SearchPlan before = plan;
  plan.Change(SetFailure{At(1, 10), Failure{Failure::Kind::kCrash, "killed"}});
  plan.Change(SetEvaluationFailure{At(1, 10), "evaluation", "no such file"});
  plan.Change(SetAttempts{PlanNodeId{1}, key, Attempts{.crashes = 2}});
  CHECK(plan.plan().FindAttempts(PlanNodeId{1}, key)->crashes == 2);
  plan.Change(SetFailure{At(1, 10), {}}).Change(SetEvaluationFailure{At(1, 10), "evaluation", {}});
  plan.Change(SetAttempts{PlanNodeId{1}, key, {}});
  CHECK(plan.plan() == before);
}

TEST_CASE("the last checkpoint before a point lies on its lineage") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 30).Checkpoint(1, 20).Checkpoint(1, 40).Checkpoint(2, 50);
  CHECK(LastCheckpointBefore(plan, At(2, 60)) == At(2, 50));
  CHECK(LastCheckpointBefore(plan, At(2, 50)) == At(2, 50));
  CHECK(LastCheckpointBefore(plan, At(2, 49)) == At(1, 20));
  CHECK(LastCheckpointBefore(plan, At(1, 40)) == At(1, 40));
  CHECK_FALSE(LastCheckpointBefore(plan, At(1, 19)));
}

}  // namespace espalier
