#include "scheduler/needed_targets.h"

#include <catch2/catch.hpp>

#include "tests/support/plan_builder.h"

namespace espalier {
namespace {

std::string Print(const std::vector<Target>& targets) {
  std::string text;
  for (const Target& target : targets) {
    text += (text.empty() ? "" : " ") + std::to_string(target.step.value);
    text += target.evaluate && target.save ? "+" : target.evaluate ? "?" : target.save ? "" : "!";
  }
  return text;
}

// The targets of run 7 as text: "30" saves, "30?" evaluates, "30+" does both.
std::string Needed(const SearchPlan& plan, const std::vector<TestRun>& runs, const std::vector<OpenLineage>& open = {},
                   int run = 7) {
  return Print(NeededTargets(plan, Runs(runs), open).at(RunId{run}));
}

// A trunk with a branch at 30.
TestPlan Branching() { return TestPlan{}.Node(1, 0, 0).Node(2, 1, 30); }

TestRun Trunk() { return TestRun(7).Train(1, 0, 60); }

}  // namespace

TEST_CASE("a run goes to its claim and evaluates there") {
  CHECK(Needed(Branching().Claim(1, 1, 60), {Trunk().Saves(60)}) == "60+");
}

TEST_CASE("a run that nobody needs gets no targets") {
  CHECK(Needed(Branching(), {Trunk().EvaluatesAndSaves(60)}) == "");
  CHECK(Needed(Branching().Claim(1, 1, 60).Settle(1), {Trunk().Stands(20).EvaluatesAndSaves(60)}) == "");
}

TEST_CASE("a nearer claim on the path becomes a mark, and the farther stays the end") {
  CHECK(Needed(Branching().Claim(1, 1, 60).Claim(2, 1, 20), {Trunk().EvaluatesAndSaves(60)}) == "20+ 60+");
}

TEST_CASE("a branch ahead of the runner becomes a mark on its run") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60);
  CHECK(Needed(plan, {Trunk().Stands(29).EvaluatesAndSaves(60)}) == "30 60+");
}

TEST_CASE("a runner that stands exactly at a new mark or end counts as in time") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60);
  CHECK(Needed(plan, {Trunk().Stands(30).EvaluatesAndSaves(60)}) == "30 60+");
  CHECK(Needed(Branching().Claim(1, 1, 45), {Trunk().Stands(45).EvaluatesAndSaves(60)}) == "45+");
}

TEST_CASE("a branch behind the runner leaves it alone") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60);
  CHECK(Needed(plan, {Trunk().Stands(31).EvaluatesAndSaves(60)}) == "60+");
}

TEST_CASE("a branch behind the runner is served by what was promised before it") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60);
  CHECK(Needed(plan, {Trunk().Stands(31).Saves(20).EvaluatesAndSaves(60)}) == "20 60+");
}

TEST_CASE("cancelling the only claim that needs a run's far part shortens the run") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60).Settle(1);
  CHECK(Needed(plan, {Trunk().Stands(10).Saves(30).EvaluatesAndSaves(60)}) == "30");
}

TEST_CASE("a run never lengthens") {
  CHECK(Needed(Branching().Claim(1, 1, 60), {Trunk().Stands(10).Saves(40)}) == "40");
  CHECK(Needed(Branching().Claim(1, 1, 60), {Trunk().Stands(10)}) == "");
}

TEST_CASE("a claim beyond the path is served at the path's end, without evaluation") {
  CHECK(Needed(Branching().Claim(1, 1, 90), {Trunk().Stands(10).EvaluatesAndSaves(60)}) == "60");
}

TEST_CASE("a claim on another root needs nothing of the run") {
  CHECK(Needed(Branching().Node(3, 0, 0).Claim(1, 3, 60), {Trunk().EvaluatesAndSaves(60)}) == "");
}

TEST_CASE("a checkpoint as near to the claim as the run can get makes the run needless") {
  CHECK(Needed(Branching().Claim(1, 2, 60).Checkpoint(1, 30), {Trunk().Stands(10).Saves(60)}) == "");
  CHECK(Needed(Branching().Claim(1, 2, 60).Checkpoint(2, 50), {Trunk().Stands(10).Saves(60)}) == "");
  CHECK(Needed(Branching().Claim(1, 2, 60).Checkpoint(1, 29), {Trunk().Stands(10).Saves(60)}) == "30");
}

TEST_CASE("a checkpoint at the claim's point is evaluated by itself, not by a runner that will come by") {
  CHECK(Needed(Branching().Claim(1, 1, 30).Checkpoint(1, 30), {Trunk().Stands(10).EvaluatesAndSaves(60)}) == "");
}

TEST_CASE("an evaluation under way stays promised when the checkpoint is stored first") {
  const TestPlan plan = Branching().Claim(1, 1, 30).Claim(2, 1, 60).Checkpoint(1, 30);
  CHECK(Needed(plan, {Trunk().Stands(35).EvaluatesAndSaves(30).EvaluatesAndSaves(60)}) == "30? 60+");
}

TEST_CASE("a save under way stays promised when the metrics come first") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Measured(1, 60).Settle(1, ClaimState::kDone);
  CHECK(Needed(plan, {Trunk().Stands(60).EvaluatesAndSaves(60)}) == "60");
  CHECK(Needed(plan, {Trunk().Stands(60).Stopped().EvaluatesAndSaves(60)}) == "60");
}

TEST_CASE("a save of a point that is being evaluated stays promised with it") {
  CHECK(Needed(Branching().Claim(1, 1, 60), {Trunk().Stands(60).EvaluatesAndSaves(60)}) == "60+");
  CHECK(Needed(Branching().Claim(1, 1, 60), {Trunk().Stands(60).Stopped().EvaluatesAndSaves(60)}) == "60+");
}

TEST_CASE("a run whose last claim goes stops at once, even in its last step") {
  CHECK(Needed(Branching().Claim(1, 1, 60).Settle(1), {Trunk().Stands(60).EvaluatesAndSaves(60)}) == "");
}

TEST_CASE("a run whose last claim goes keeps the saves under way behind it, and nothing ahead") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Settle(1);
  CHECK(Needed(plan, {Trunk().Stands(31).Saves(30).Saves(40).EvaluatesAndSaves(60)}) == "30");
}

TEST_CASE("a promised target stays though the run has passed it") {
  const TestPlan plan = Branching().Claim(1, 1, 30).Claim(2, 1, 60);
  CHECK(Needed(plan, {Trunk().Stands(40).EvaluatesAndSaves(30).EvaluatesAndSaves(60)}) == "30+ 60+");
}

TEST_CASE("a run that has passed a point cannot promise to evaluate it any more") {
  const TestPlan plan = Branching().Claim(1, 1, 30).Claim(2, 1, 60);
  CHECK(Needed(plan, {Trunk().Stands(40).Saves(30).EvaluatesAndSaves(60)}) == "30 60+");
  CHECK(Needed(plan, {Trunk().Stands(30).Saves(30).EvaluatesAndSaves(60)}) == "30+ 60+");
}

TEST_CASE("a run that no longer trains takes no new targets") {
  const TestPlan plan = Branching().Claim(1, 1, 20).Claim(2, 1, 60).Claim(3, 2, 60);
  CHECK(Needed(plan, {Trunk().Stands(10).Stopped().Saves(5)}) == "5");
}

TEST_CASE("a run that evaluates a checkpoint keeps its one target while a claim waits for it") {
  const TestRun evaluator = TestRun(7).From(1, 30).Evaluates(30);
  CHECK(Needed(Branching().Checkpoint(1, 30).Claim(1, 1, 30), {evaluator}) == "30?");
  CHECK(Needed(Branching().Checkpoint(1, 30).Claim(1, 1, 30).Settle(1), {evaluator}) == "");
  CHECK(Needed(Branching().Checkpoint(1, 30).Claim(1, 1, 60), {evaluator}) == "");
  CHECK(Needed(Branching().Checkpoint(1, 30).Claim(1, 1, 30), {TestRun(7).From(1, 30).Saves(30)}) == "30?");
  CHECK(Needed(Branching().Claim(1, 1, 30), {TestRun(7).From(1, 30).Saves(30)}) == "30?");
}

TEST_CASE("of two runs on a claim's lineage the one that gets furthest serves it") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun further = TestRun(8).Train(1, 0, 30).Train(2, 30, 60).Stands(1).EvaluatesAndSaves(60);
  CHECK(Needed(plan, {Trunk().Stands(20).EvaluatesAndSaves(60), further}) == "");
  CHECK(Needed(plan, {Trunk().Stands(20).EvaluatesAndSaves(60), further}, {}, 8) == "60+");
}

TEST_CASE("of two runs that pass one point the one expected there first serves it") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun other = TestRun(8).Train(1, 0, 40).Stands(25).Saves(40);
  CHECK(Needed(plan, {Trunk().Stands(20).Saves(60), other}) == "");
  CHECK(Needed(plan, {Trunk().Stands(20).Saves(60), other}, {}, 8) == "30");
  CHECK(Needed(plan, {Trunk().Stands(25).Saves(60), other}) == "30");
  CHECK(Needed(plan, {Trunk().Stands(31).Saves(30).Saves(60), other}) == "30");
}

TEST_CASE("a run is marked where an open lineage leaves it") {
  const TestPlan plan = Branching().Claim(1, 1, 60);
  const std::vector<OpenLineage> open{{PlanNodeId{2}, Step{90}}};
  CHECK(Needed(plan, {Trunk().Stands(10).EvaluatesAndSaves(60)}, open) == "30 60+");
  CHECK(Needed(plan, {Trunk().Stands(30).EvaluatesAndSaves(60)}, open) == "30 60+");
  CHECK(Needed(plan, {Trunk().Stands(31).EvaluatesAndSaves(60)}, open) == "60+");
  CHECK(Needed(plan, {Trunk().Stands(31).Saves(30).EvaluatesAndSaves(60)}, open) == "30 60+");
}

TEST_CASE("a run is marked where an open lineage stays on a node that the run leaves") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun run = TestRun(7).Train(1, 0, 30).Train(2, 30, 60).EvaluatesAndSaves(60);
  CHECK(Needed(plan, {run}, {{PlanNodeId{1}, Step{90}}}) == "30 60+");
  CHECK(Needed(plan, {run}, {{PlanNodeId{2}, Step{90}}}) == "60+");
}

TEST_CASE("a run is marked where an open trial's horizon ends on its path") {
  CHECK(Needed(Branching().Claim(1, 1, 60), {Trunk().EvaluatesAndSaves(60)}, {{PlanNodeId{1}, Step{45}}}) == "45 60+");
}

TEST_CASE("stages of one node that follow each other are one way, without a mark between them") {
  const TestRun run = TestRun(7).Train(1, 0, 20).Train(1, 20, 60).EvaluatesAndSaves(60);
  CHECK(Needed(Branching().Claim(1, 1, 60), {run}, {{PlanNodeId{2}, Step{90}}}) == "30 60+");
  CHECK(Needed(Branching().Claim(1, 1, 60), {run}, {{PlanNodeId{1}, Step{90}}}) == "60+");
}

TEST_CASE("open lineages neither keep a run going nor repeat a checkpoint") {
  const std::vector<OpenLineage> open{{PlanNodeId{2}, Step{90}}};
  CHECK(Needed(Branching(), {Trunk().Saves(30).EvaluatesAndSaves(60)}, open) == "");
  CHECK(Needed(Branching().Claim(1, 1, 20), {Trunk().Saves(30).EvaluatesAndSaves(60)}, open) == "20+");
  CHECK(Needed(Branching().Claim(1, 1, 60).Checkpoint(1, 30), {Trunk().Saves(60)}, open) == "60+");
}

}  // namespace espalier
