#include "scheduler/stage_tree.h"

#include <catch2/catch.hpp>

#include "tests/support/plan_builder.h"

namespace espalier {
namespace {

std::string PrintedTree(const SearchPlan& plan, const std::vector<TestRun>& runs = {}) {
  return Print(BuildStageTree(plan, Runs(runs)));
}

}  // namespace

TEST_CASE("a plan without waiting claims has no stages") {
  CHECK(PrintedTree(TestPlan{}.Node(1, 0, 0)).empty());
  CHECK(PrintedTree(TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30).Settle(1)).empty());
}

TEST_CASE("a claim on a fresh plan is trained from init") {
  CHECK(PrintedTree(TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30)) ==
        "stage 0: node 1 (0, 30] from init, claims 1, trials 1\n");
}

TEST_CASE("two claims on one lineage are two stages, split at the nearer") {
  const std::string nearer_first = PrintedTree(TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30).Claim(2, 1, 60));
  CHECK(nearer_first ==
        "stage 0: node 1 (0, 30] from init, claims 1, trials 1 2\n"
        "  stage 1: node 1 (30, 60], claims 2, trials 2\n");
  const std::string farther_first = PrintedTree(TestPlan{}.Node(1, 0, 0).Claim(2, 1, 60).Claim(1, 1, 30));
  CHECK(farther_first == nearer_first);
}

TEST_CASE("claims at one point share a stage") {
  CHECK(PrintedTree(TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30, 8).Claim(2, 1, 30, 4).Claim(3, 1, 30, 8)) ==
        "stage 0: node 1 (0, 30] from init, claims 1 2 3, trials 4 8\n");
}

TEST_CASE("a checkpoint on the way saves the steps before it") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Checkpoint(1, 20).Checkpoint(1, 50).Claim(1, 1, 30);
  CHECK(PrintedTree(plan) == "stage 0: node 1 (20, 30] from checkpoint (1, 20), claims 1, trials 1\n");
}

TEST_CASE("a checkpoint at the claim's own point needs an evaluation and no training") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Checkpoint(1, 30).Claim(1, 1, 30).Claim(2, 1, 60);
  CHECK(PrintedTree(plan) ==
        "stage 0: node 1 evaluate at 30 by evaluation from checkpoint (1, 30), claims 1, trials 1\n"
        "stage 1: node 1 (30, 60] from checkpoint (1, 30), claims 2, trials 2\n");
}

TEST_CASE("a checkpoint where a child leaves its parent is used by the child") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 40).Checkpoint(1, 40).Claim(1, 2, 60);
  CHECK(PrintedTree(plan) == "stage 0: node 2 (40, 60] from checkpoint (1, 40), claims 1, trials 1\n");
}

TEST_CASE("the start of a child belongs to its parent") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 40).Claim(1, 1, 40).Claim(2, 2, 41);
  CHECK(PrintedTree(plan) ==
        "stage 0: node 1 (0, 40] from init, claims 1, trials 1 2\n"
        "  stage 1: node 2 (40, 41], claims 2, trials 2\n");
}

TEST_CASE("a parent's checkpoints beyond the branch are of no use to the child") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 40).Checkpoint(1, 41).Claim(1, 2, 60);
  CHECK(PrintedTree(plan) ==
        "stage 0: node 1 (0, 40] from init, trials 1\n"
        "  stage 1: node 2 (40, 60], claims 1, trials 1\n");
}

TEST_CASE("points with metrics alone are no checkpoints") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Checkpoint(1, 10).Measured(1, 20).Claim(1, 1, 30);
  CHECK(PrintedTree(plan) == "stage 0: node 1 (10, 30] from checkpoint (1, 10), claims 1, trials 1\n");
}

TEST_CASE("a stage splits where a needed branch leaves it") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 150).Claim(1, 1, 200);
  CHECK(PrintedTree(plan) == "stage 0: node 1 (0, 200] from init, claims 1, trials 1\n");
  plan.Claim(2, 2, 300);
  CHECK(PrintedTree(plan) ==
        "stage 0: node 1 (0, 150] from init, trials 1 2\n"
        "  stage 1: node 1 (150, 200], claims 1, trials 1\n"
        "  stage 2: node 2 (150, 300], claims 2, trials 2\n");
}

TEST_CASE("a checkpoint within a child comes before one where the child leaves its parent") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 40).Checkpoint(1, 40).Checkpoint(2, 50).Claim(1, 2, 60);
  CHECK(PrintedTree(plan) == "stage 0: node 2 (50, 60] from checkpoint (2, 50), claims 1, trials 1\n");
}

TEST_CASE("a checkpoint between two claims of a node begins a tree of its own") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Checkpoint(1, 40).Claim(1, 1, 30).Claim(2, 1, 60);
  CHECK(PrintedTree(plan) ==
        "stage 0: node 1 (0, 30] from init, claims 1, trials 1\n"
        "stage 1: node 1 (40, 60] from checkpoint (1, 40), claims 2, trials 2\n");
}

TEST_CASE("a claim whose metrics a run promises needs no stage") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30);
  CHECK(PrintedTree(plan, {TestRun(7).Train(1, 0, 30).Both(30)}).empty());
}

TEST_CASE("a claim on another evaluation than the promised metrics' is not covered by them") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30).Claim(2, 1, 30, 2, "another");
  CHECK(PrintedTree(plan, {TestRun(7).Train(1, 0, 30).Both(30)}) ==
        "stage 0: node 1 evaluate at 30 by another from promise of run 7 at (1, 30), claims 2, trials 2\n");
  CHECK(PrintedTree(plan, {TestRun(7).Train(1, 0, 30).Both(30).Measures("another")}) ==
        "stage 0: node 1 evaluate at 30 by evaluation from promise of run 7 at (1, 30), claims 1, trials 1\n");
  CHECK(PrintedTree(plan, {TestRun(7).Train(1, 0, 30).Metrics(30)}) ==
        "stage 0: node 1 (0, 30] from init, claims 2, trials 2\n");
}

TEST_CASE("metrics promised at one point cover no claim of the same evaluation at another") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 30).Claim(1, 1, 40).Claim(2, 2, 40);
  CHECK(PrintedTree(plan, {TestRun(7).Train(1, 0, 40).State(30).Both(40)}) ==
        "stage 0: node 2 (30, 40] from promise of run 7 at (1, 30), claims 2, trials 2\n");
}

TEST_CASE("a state is evaluated once for each evaluation that claims ask for") {
  TestPlan plan = TestPlan{}.Node(1, 0, 0).Checkpoint(1, 30);
  plan.Claim(1, 1, 30).Claim(2, 1, 30, 2, "another").Claim(3, 1, 30, 2).Claim(4, 1, 60);
  CHECK(PrintedTree(plan) ==
        "stage 0: node 1 evaluate at 30 by another from checkpoint (1, 30), claims 2, trials 2\n"
        "stage 1: node 1 evaluate at 30 by evaluation from checkpoint (1, 30), claims 1 3, trials 1 2\n"
        "stage 2: node 1 (30, 60] from checkpoint (1, 30), claims 4, trials 4\n");
}

TEST_CASE("claims on several evaluations of an untrained point share its training") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30).Claim(2, 1, 30, 2, "another");
  const StageTree tree = BuildStageTree(plan, {});
  CHECK(Print(tree) == "stage 0: node 1 (0, 30] from init, claims 1 2, trials 1 2\n");
  CHECK(tree.stages[0].evaluation.empty());
}

TEST_CASE("a promised state is a checkpoint to come") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Node(2, 1, 30).Claim(1, 1, 60).Claim(2, 2, 60);
  const StageTree tree = BuildStageTree(plan, Runs({TestRun(7).Train(1, 0, 60).State(30).Both(60)}));
  CHECK(Print(tree) == "stage 0: node 2 (30, 60] from promise of run 7 at (1, 30), claims 2, trials 2\n");
  CHECK_FALSE(IsReady(tree, 0));
}

TEST_CASE("a promise of the state alone leaves the evaluation to be done") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30);
  CHECK(PrintedTree(plan, {TestRun(7).Train(1, 0, 60).Stands(45).State(30).Both(60)}) ==
        "stage 0: node 1 evaluate at 30 by evaluation from promise of run 7 at (1, 30), claims 1, trials 1\n");
}

TEST_CASE("promised metrics are no state to train on from") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 30).Claim(2, 1, 60);
  CHECK(PrintedTree(plan, {TestRun(7).Train(1, 0, 30).Metrics(30)}) ==
        "stage 0: node 1 (0, 60] from init, claims 2, trials 2\n");
}

TEST_CASE("a stage waits for the run that gets to its start first") {
  const TestPlan plan = TestPlan{}.Node(1, 0, 0).Claim(1, 1, 60);
  const TestRun behind = TestRun(7).Train(1, 0, 30).Stands(10).State(30);
  const TestRun ahead = TestRun(8).Train(1, 0, 30).Stands(20).State(30);
  CHECK(PrintedTree(plan, {behind, ahead}) ==
        "stage 0: node 1 (30, 60] from promise of run 8 at (1, 30), claims 1, trials 1\n");
}

TEST_CASE("a checkpoint is preferred to a promise of the same point, and the nearer of both to the farther") {
  TestPlan plan;
  plan.Node(1, 0, 0).Checkpoint(1, 30).Claim(1, 1, 60);
  const TestRun run = TestRun(7).Train(1, 0, 40).State(30);
  CHECK(PrintedTree(plan, {run}) == "stage 0: node 1 (30, 60] from checkpoint (1, 30), claims 1, trials 1\n");
  CHECK(PrintedTree(plan, {TestRun(run).State(40)}) ==
        "stage 0: node 1 (40, 60] from promise of run 7 at (1, 40), claims 1, trials 1\n");
  plan.Checkpoint(1, 50);
  CHECK(PrintedTree(plan, {TestRun(run).State(40)}) ==
        "stage 0: node 1 (50, 60] from checkpoint (1, 50), claims 1, trials 1\n");
}

TEST_CASE("only stages without parent and promise are ready") {
  const TestPlan plan =
      TestPlan{}.Node(1, 0, 0).Node(2, 0, 0).Checkpoint(2, 10).Claim(1, 1, 30).Claim(2, 1, 60).Claim(3, 2, 20);
  const StageTree tree = BuildStageTree(plan, {});
  REQUIRE(tree.stages.size() == 3);
  CHECK(IsReady(tree, 0));
  CHECK_FALSE(IsReady(tree, 1));
  CHECK(IsReady(tree, 2));
}

TEST_CASE("lineages meet in one tree however deep, and roots stay apart") {
  TestPlan plan;
  for (int i = 1; i <= 5; ++i) plan.Node(i, i - 1, 10 * (i - 1));
  const StageTree tree = BuildStageTree(plan.Node(6, 0, 0).Claim(1, 5, 50).Claim(2, 6, 5), {});
  CHECK(Print(tree) ==
        "stage 0: node 1 (0, 10] from init, trials 1\n"
        "  stage 2: node 2 (10, 20], trials 1\n"
        "    stage 3: node 3 (20, 30], trials 1\n"
        "      stage 4: node 4 (30, 40], trials 1\n"
        "        stage 5: node 5 (40, 50], claims 1, trials 1\n"
        "stage 1: node 6 (0, 5] from init, claims 2, trials 2\n");
}

}  // namespace espalier
