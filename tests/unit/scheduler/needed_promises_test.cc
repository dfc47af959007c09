#include "scheduler/needed_promises.h"

#include <catch2/catch.hpp>

#include "tests/support/plan_builder.h"

namespace espalier {
namespace {

std::string Print(const std::set<PromisedAt>& promises) {
  std::map<Step, std::set<Owed>> owed;
  for (const PromisedAt& promise : promises) owed[promise.step].insert(promise.owed);
  std::string text;
  for (const auto& [step, kinds] : owed) {
    text += (text.empty() ? "" : " ") + std::to_string(step.value);
    text += kinds.size() == 2 ? "+" : kinds.contains(Owed::kMetrics) ? "?" : "";
  }
  return text;
}

// The promises of run 7 as text: "30" of the state, "30?" of the metrics, "30+" of both.
std::string Promised(const SearchPlan& plan, const std::vector<TestRun>& runs,
                     const std::vector<OpenLineage>& open = {}, int run = 7) {
  return Print(NeededPromises(plan, Runs(runs), open).at(RunId{run}).promises);
}

// The claims that run 7 serves.
std::set<std::int64_t> Served(const SearchPlan& plan, const std::vector<TestRun>& runs, int run = 7) {
  const Needed needed = NeededPromises(plan, Runs(runs), {}).at(RunId{run});
  std::set<std::int64_t> claims;
  for (const ClaimId claim : needed.serves) claims.insert(claim.value);
  return claims;
}

using Claims = std::set<std::int64_t>;

// A trunk with a branch at 30.
TestPlan Branching() { return TestPlan{}.Node(1, 0, 0).Node(2, 1, 30); }

TestRun Trunk() { return TestRun(7).Train(1, 0, 60); }

OpenLineage Open(int leaf, int horizon, int last_claim = 0) {
  return {PlanNodeId{leaf}, Step{horizon}, Step{last_claim}};
}

}  // namespace

TEST_CASE("a run goes to its claim and measures there") {
  CHECK(Promised(Branching().Claim(1, 1, 60), {Trunk().State(60)}) == "60+");
  CHECK(Served(Branching().Claim(1, 1, 60), {Trunk().State(60)}) == Claims{1});
}

TEST_CASE("a run that nobody needs promises nothing") {
  CHECK(Promised(Branching(), {Trunk().Both(60)}) == "");
  CHECK(Promised(Branching().Claim(1, 1, 60).Settle(1), {Trunk().Stands(20).Both(60)}) == "");
}

TEST_CASE("a nearer claim on the path becomes a mark, and the farther stays the end") {
  CHECK(Promised(Branching().Claim(1, 1, 60).Claim(2, 1, 20), {Trunk().Both(60)}) == "20+ 60+");
}

TEST_CASE("a branch ahead of the runner becomes a mark on its run") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60);
  CHECK(Promised(plan, {Trunk().Stands(29).Both(60)}) == "30 60+");
  CHECK(Served(plan, {Trunk().Stands(29).Both(60)}) == Claims{1, 2});
}

TEST_CASE("a runner that stands exactly at a new mark or end counts as in time") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60);
  CHECK(Promised(plan, {Trunk().Stands(30).Both(60)}) == "30 60+");
  CHECK(Promised(Branching().Claim(1, 1, 45), {Trunk().Stands(45).Both(60)}) == "45+");
}

TEST_CASE("a branch behind the runner leaves it alone") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60);
  CHECK(Promised(plan, {Trunk().Stands(31).Both(60)}) == "60+");
  CHECK(Served(plan, {Trunk().Stands(31).Both(60)}) == Claims{1});
}

TEST_CASE("a branch behind the runner is served by what was promised before it") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60);
  CHECK(Promised(plan, {Trunk().Stands(31).State(20).Both(60)}) == "20 60+");
  CHECK(Served(plan, {Trunk().Stands(31).State(20).Both(60)}) == Claims{1, 2});
}

TEST_CASE("cancelling the only claim that needs a run's far part shortens the run") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60).Settle(1);
  CHECK(Promised(plan, {Trunk().Stands(10).State(30).Both(60)}) == "30");
}

TEST_CASE("a run never lengthens") {
  CHECK(Promised(Branching().Claim(1, 1, 60), {Trunk().Stands(10).State(40)}) == "40");
  CHECK(Promised(Branching().Claim(1, 1, 60), {Trunk().Stands(40).State(40)}) == "40");
}

TEST_CASE("a run without promises is chosen for nothing") {
  CHECK(Promised(Branching().Claim(1, 1, 60).Claim(2, 1, 10), {Trunk().Stands(10)}) == "");
  CHECK(Promised(Branching().Claim(1, 1, 10), {Trunk().Stands(10), TestRun(8).Train(1, 0, 60).State(60)}) == "");
}

TEST_CASE("a claim beyond the path is served at the path's end, by its state alone") {
  CHECK(Promised(Branching().Claim(1, 1, 90), {Trunk().Stands(10).Both(60)}) == "60");
}

TEST_CASE("a claim on another root needs nothing of the run") {
  CHECK(Promised(Branching().Node(3, 0, 0).Claim(1, 3, 60), {Trunk().Both(60)}) == "");
}

TEST_CASE("a checkpoint as near to the claim as the run can get makes the run needless") {
  CHECK(Promised(Branching().Claim(1, 2, 60).Checkpoint(1, 30), {Trunk().Stands(10).State(60)}) == "");
  CHECK(Promised(Branching().Claim(1, 2, 60).Checkpoint(2, 50), {Trunk().Stands(10).State(60)}) == "");
  CHECK(Promised(Branching().Claim(1, 2, 60).Checkpoint(1, 29), {Trunk().Stands(10).State(60)}) == "30");
}

TEST_CASE("a checkpoint comes before a promise of the same state") {
  CHECK(Promised(Branching().Claim(1, 2, 60).Checkpoint(1, 30), {Trunk().Stands(10).State(30).State(60)}) == "");
}

TEST_CASE("a checkpoint at the claim's point is evaluated by itself, not by a runner that will come by") {
  CHECK(Promised(Branching().Claim(1, 1, 30).Checkpoint(1, 30), {Trunk().Stands(10).State(60)}) == "");
}

TEST_CASE("metrics that are promised keep serving their claim when the checkpoint is stored first") {
  const TestPlan plan = Branching().Claim(1, 1, 30).Claim(2, 1, 60).Checkpoint(1, 30);
  CHECK(Promised(plan, {Trunk().Stands(35).Metrics(30).Both(60)}) == "30? 60+");
  CHECK(Promised(plan, {Trunk().Stands(10).Both(30).Both(60)}) == "30? 60+");
  CHECK(Served(plan, {Trunk().Stands(35).Metrics(30).Both(60)}) == Claims{1, 2});
}

TEST_CASE("a promised state whose step the runner has reached is never withdrawn") {
  CHECK(Promised(Branching(), {Trunk().Stands(30).State(30).State(60)}) == "30");
  CHECK(Promised(Branching(), {Trunk().Stands(31).State(30).State(60)}) == "30");
  CHECK(Promised(Branching().Checkpoint(1, 30), {Trunk().Stands(31).State(30)}) == "30");
  CHECK(Promised(Branching(), {Trunk().Stands(29).State(30).State(60)}) == "");
}

TEST_CASE("metrics that nobody waits for are withdrawn, even of a step that the runner has reached") {
  CHECK(Promised(Branching(), {Trunk().Stands(31).Both(30)}) == "30");
}

TEST_CASE("a state under way stays promised when the metrics come first") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Measured(1, 60).Settle(1, ClaimState::kDone);
  CHECK(Promised(plan, {Trunk().Stands(60).State(60)}) == "60");
  CHECK(Promised(plan, {Trunk().Stands(60).Stopped().State(60)}) == "60");
}

TEST_CASE("where a run promises a claim's metrics it promises the state too") {
  CHECK(Promised(Branching().Claim(1, 1, 60), {Trunk().Stands(60).Both(60)}) == "60+");
  CHECK(Promised(Branching().Claim(1, 1, 60), {Trunk().Stands(60).Stopped().Both(60)}) == "60+");
  CHECK(Promised(Branching().Claim(1, 1, 60), {Trunk().Stands(60).Metrics(60)}) == "60+");
}

TEST_CASE("a run that promises metrics does not repeat a state that another run keeps") {
  const TestPlan plan = Branching().Claim(1, 1, 60, 1, "another").Claim(2, 1, 60);
  const TestRun other = TestRun(8).Train(1, 0, 60).Stands(50).Measures("another").Metrics(60);
  CHECK(Promised(plan, {Trunk().State(60), other}) == "60+");
  CHECK(Promised(plan, {Trunk().State(60), other}, {}, 8) == "60?");
}

TEST_CASE("metrics whose state the run can no longer promise stay alone") {
  const TestPlan plan = Branching().Claim(1, 1, 30);
  CHECK(Promised(plan, {Trunk().Stands(31).Metrics(30)}) == "30?");
  CHECK(Promised(plan, {Trunk().Stands(30).Stopped().Metrics(30)}) == "30?");
}

TEST_CASE("a run whose last claim goes keeps the states under way behind it, and nothing ahead") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Settle(1);
  CHECK(Promised(plan, {Trunk().Stands(31).State(30).State(40).Both(60)}) == "30");
  CHECK(Promised(plan, {Trunk().Stands(60).Both(60)}) == "60");
}

TEST_CASE("a promise stays though the run has passed it") {
  const TestPlan plan = Branching().Claim(1, 1, 30).Claim(2, 1, 60);
  CHECK(Promised(plan, {Trunk().Stands(40).Both(30).Both(60)}) == "30+ 60+");
}

TEST_CASE("a run that has passed a point cannot promise its metrics any more") {
  const TestPlan plan = Branching().Claim(1, 1, 30).Claim(2, 1, 60);
  CHECK(Promised(plan, {Trunk().Stands(40).State(30).Both(60)}) == "30 60+");
  CHECK(Promised(plan, {Trunk().Stands(30).State(30).Both(60)}) == "30+ 60+");
}

TEST_CASE("a run whose server measures another evaluation promises the state only") {
  const TestPlan plan = Branching().Claim(1, 1, 60);
  CHECK(Promised(plan, {Trunk().Measures("another").State(60)}) == "60");
  CHECK(Served(plan, {Trunk().Measures("another").State(60)}) == Claims{1});
  CHECK(Promised(plan, {Trunk().Measures("another").Both(60)}) == "60");
}

TEST_CASE("of claims on several evaluations of one point a run measures its own") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 1, 60, 2, "another");
  CHECK(Promised(plan, {Trunk().State(60)}) == "60+");
  CHECK(Promised(plan, {Trunk().Both(60)}) == "60+");
  CHECK(Served(plan, {Trunk().Both(60)}) == Claims{1, 2});
}

TEST_CASE("metrics promised by another evaluation serve no claim") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Checkpoint(1, 60);
  CHECK(Promised(plan, {TestRun(7).From(1, 60).Measures("another").Metrics(60)}) == "");
  CHECK(Promised(plan, {TestRun(7).From(1, 60).Metrics(60)}) == "60?");
}

TEST_CASE("a run that no longer trains takes no new promises") {
  const TestPlan plan = Branching().Claim(1, 1, 20).Claim(2, 1, 60).Claim(3, 2, 60);
  CHECK(Promised(plan, {Trunk().Stands(10).Stopped().State(5)}) == "5");
  CHECK(Promised(plan, {Trunk().Stands(10).Stopped().State(20)}) == "20");
}

TEST_CASE("a run that does not train keeps its open promises standing, whoever needs them") {
  CHECK(Promised(Branching(), {Trunk().Stands(10).Stopped().State(30).Both(60)}) == "30 60+");
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 2, 60).Claim(3, 1, 20);
  CHECK(Promised(plan, {Trunk().Stands(10).Stopped().State(30).Both(60)}) == "30 60+");
  CHECK(Served(plan, {Trunk().Stands(10).Stopped().State(30).Both(60)}) == Claims{1, 2});
}

TEST_CASE("a run that evaluates a checkpoint keeps its one promise while a claim waits for it") {
  const TestRun evaluator = TestRun(7).From(1, 30).Metrics(30);
  CHECK(Promised(Branching().Checkpoint(1, 30).Claim(1, 1, 30), {evaluator}) == "30?");
  CHECK(Promised(Branching().Checkpoint(1, 30).Claim(1, 1, 30).Settle(1), {evaluator}) == "");
  CHECK(Promised(Branching().Checkpoint(1, 30).Claim(1, 1, 60), {evaluator}) == "");
}

TEST_CASE("a run that evaluates promises no state, not even of a checkpoint that was dropped meanwhile") {
  CHECK(Promised(Branching().Claim(1, 1, 30), {TestRun(7).From(1, 30).Metrics(30)}) == "30?");
}

TEST_CASE("of two runs on a claim's lineage the one that gets furthest serves it") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun further = TestRun(8).Train(1, 0, 30).Train(2, 30, 60).Stands(1).Both(60);
  CHECK(Promised(plan, {Trunk().Stands(20).Both(60), further}) == "");
  CHECK(Promised(plan, {Trunk().Stands(20).Both(60), further}, {}, 8) == "60+");
}

TEST_CASE("of two runs that pass one point the one expected there first serves it") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun other = TestRun(8).Train(1, 0, 40).Stands(25).State(40);
  CHECK(Promised(plan, {Trunk().Stands(20).State(60), other}) == "");
  CHECK(Promised(plan, {Trunk().Stands(20).State(60), other}, {}, 8) == "30");
  CHECK(Promised(plan, {Trunk().Stands(25).State(60), other}) == "30");
}

TEST_CASE("of two runs that promise one state the one expected there first keeps it") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun other = TestRun(8).Train(1, 0, 40).Stands(25).State(30);
  CHECK(Promised(plan, {Trunk().Stands(20).State(30), other}) == "");
  CHECK(Promised(plan, {Trunk().Stands(20).State(30), other}, {}, 8) == "30");
}

TEST_CASE("a promise that stands comes before a run that could promise the same, however near that is") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun other = TestRun(8).Train(1, 0, 40).Stands(29).State(40);
  CHECK(Promised(plan, {Trunk().Stands(20).State(30), other}) == "30");
  CHECK(Promised(plan, {Trunk().Stands(20).State(30), other}, {}, 8) == "");
  CHECK(Promised(plan, {Trunk().Stands(31).State(30).State(60), other}) == "30");
}

TEST_CASE("a nearer run that could promise comes before a promise that stands farther back") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun other = TestRun(8).Train(1, 0, 40).Stands(10).State(40);
  CHECK(Promised(plan, {Trunk().Stands(10).State(20), other}) == "");
  CHECK(Promised(plan, {Trunk().Stands(10).State(20), other}, {}, 8) == "30");
}

TEST_CASE("a run is marked where an open lineage leaves it") {
  const TestPlan plan = Branching().Claim(1, 1, 60);
  CHECK(Promised(plan, {Trunk().Stands(10).Both(60)}, {Open(2, 90)}) == "30 60+");
  CHECK(Promised(plan, {Trunk().Stands(30).Both(60)}, {Open(2, 90)}) == "30 60+");
  CHECK(Promised(plan, {Trunk().Stands(31).Both(60)}, {Open(2, 90)}) == "60+");
  CHECK(Promised(plan, {Trunk().Stands(31).State(30).Both(60)}, {Open(2, 90)}) == "30 60+");
}

TEST_CASE("a run is marked where an open lineage stays on a node that the run leaves") {
  const TestPlan plan = Branching().Claim(1, 2, 60);
  const TestRun run = TestRun(7).Train(1, 0, 30).Train(2, 30, 60).Both(60);
  CHECK(Promised(plan, {run}, {Open(1, 90)}) == "30 60+");
  CHECK(Promised(plan, {run}, {Open(2, 90)}) == "60+");
}

TEST_CASE("a run is marked where an open trial's horizon ends on its path") {
  CHECK(Promised(Branching().Claim(1, 1, 60), {Trunk().Both(60)}, {Open(1, 45)}) == "45 60+");
}

TEST_CASE("a run is marked at the last claim of an open trial, whatever has become of the claim") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 1, 20).Measured(1, 20).Settle(2, ClaimState::kDone);
  CHECK(Promised(plan, {Trunk().Stands(20).Both(60)}, {Open(1, 90, 20)}) == "20 60+");
  CHECK(Promised(plan, {Trunk().Stands(21).Both(60)}, {Open(1, 90, 20)}) == "60+");
  CHECK(Promised(plan, {Trunk().Stands(10).Both(60)}, {Open(1, 90, 60)}) == "60+");
}

TEST_CASE("a last claim off the path marks the run only where its lineage leaves it") {
  const TestPlan plan = Branching().Claim(1, 1, 60);
  CHECK(Promised(plan, {Trunk().Both(60)}, {Open(2, 90, 40)}) == "30 60+");
  CHECK(Promised(plan, {Trunk().Both(60)}, {Open(2, 90, 20)}) == "20 30 60+");
}

TEST_CASE("stages of one node that follow each other are one way, without a mark between them") {
  const TestRun run = TestRun(7).Train(1, 0, 20).Train(1, 20, 60).Both(60);
  CHECK(Promised(Branching().Claim(1, 1, 60), {run}, {Open(2, 90)}) == "30 60+");
  CHECK(Promised(Branching().Claim(1, 1, 60), {run}, {Open(1, 90)}) == "60+");
}

TEST_CASE("open lineages neither keep a run going nor repeat a checkpoint") {
  CHECK(Promised(Branching(), {Trunk().State(30).Both(60)}, {Open(2, 90, 60)}) == "");
  CHECK(Promised(Branching().Claim(1, 1, 20), {Trunk().State(30).Both(60)}, {Open(2, 90)}) == "20+");
  CHECK(Promised(Branching().Claim(1, 1, 60).Checkpoint(1, 30), {Trunk().State(60)}, {Open(2, 90)}) == "60+");
}

TEST_CASE("of two runs that pass where an open lineage leaves them one keeps the state") {
  const TestPlan plan = Branching().Claim(1, 1, 60).Claim(2, 1, 50);
  const TestRun other = TestRun(8).Train(1, 0, 50).Stands(25).Both(50);
  CHECK(Promised(plan, {Trunk().Stands(20).Both(60), other}, {Open(2, 90)}) == "60+");
  CHECK(Promised(plan, {Trunk().Stands(20).Both(60), other}, {Open(2, 90)}, 8) == "30 50+");
  CHECK(Promised(plan, {Trunk().Stands(20).State(30).Both(60), other}, {Open(2, 90)}) == "30 60+");
  CHECK(Promised(plan, {Trunk().Stands(20).State(30).Both(60), other}, {Open(2, 90)}, 8) == "50+");
  CHECK(Promised(plan, {Trunk().Stands(31).State(30).Both(60), other}, {Open(2, 90)}, 8) == "50+");
}

}  // namespace espalier
