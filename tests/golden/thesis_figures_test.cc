// The examples of A. Shin's thesis (TreeML, 2021) as plan and stage tree: figures 1.1, 3.1, 3.2, 4.2 and 4.3. What the
// prose says is taken from there, and named; of what only the drawings show, the rest is filled in, and named too.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "scheduler/stage_tree.h"
#include "searchplan/plan/insert_trial.h"
#include "searchplan/plan/invariants.h"
#include "searchplan/plan/plan_dump.h"
#include "searchplan/sequence/expression.h"

namespace espalier {
namespace {

// Trials as users write them, each with one claim at its last step. Trial and claim have the same number.
class ThesisPlan {
 public:
  ThesisPlan& Submit(int trial, const std::string& lr, int steps) {
    const auto segments =
        ResolveTrial(plan_.identity.training.schema, {{"lr", ParseExpression(lr).value()}}, Step{steps});
    const Insertion insertion =
        InsertTrial(plan_, segments.value(), PlanNodeId{1 + static_cast<int>(plan_.nodes.size())});
    for (const PlanChange& change : insertion.edit) Apply(plan_, change);
    leaves_[trial] = insertion.leaf;
    Claim claim{.id = ClaimId{trial}, .trial = TrialId{trial}, .point = On(trial, steps), .evaluation = "accuracy"};
    Apply(plan_, AddClaim{std::move(claim)});
    return *this;
  }

  // On the trial's way.
  ThesisPlan& Checkpoint(int trial, int step) {
    Apply(plan_, SetCheckpoint{On(trial, step), {.file = "file"}, {.sha256 = "state"}});
    return *this;
  }

  std::string Dump() const {
    CHECK(CheckInvariants(plan_).empty());
    return DumpPlan(plan_);
  }
  std::string Stages() const { return Print(BuildStageTree(plan_, {})); }

 private:
  Point On(int trial, int step) const { return PointOn(plan_, leaves_.at(trial), Step{step}); }

  static SearchPlan Empty() {
    const Schema schema{{{"bs", ValueType::kInteger, std::int64_t{128}}, {"lr", ValueType::kFloating, 0.1}}};
    return {.id = PlanId{1},
            .identity = {.training = {.trainer = "resnet", .data = "cifar10", .schema = schema},
                         .device_kind = "gpu",
                         .sharing = {}}};
  }

  SearchPlan plan_ = Empty();
  std::map<int, PlanNodeId> leaves_;
};

// Figure 1.1. Chapter 1: four trials of one learning rate sequence each, from {0.1, 0.05, 0.02, 0.01}; all are at 0.1
// (stage A) for the first 100 steps; trials 2, 3 and 4 are at 0.05 (stage B) in steps 100 to 200. Chapters 3 and 4:
// trial 1 stays on A up to step 200, C follows B and E follows A at step 200. Filled in: one of the three trials stays
// on B (it is cut into B1 and B2, as A is), D follows B too, C is 0.02, D and E are 0.01, and all end at step 300.
ThesisPlan Figure11() {
  ThesisPlan plan;
  plan.Submit(1, "Piecewise([0.1, 0.01], [200])", 300);
  plan.Submit(2, "Piecewise([0.1, 0.05], [100])", 300);
  plan.Submit(3, "Piecewise([0.1, 0.05, 0.02], [100, 200])", 300);
  plan.Submit(4, "Piecewise([0.1, 0.05, 0.01], [100, 200])", 300);
  return plan;
}

// Figure 4.2. Section 4.2.1: H_A, the root, has a linear learning rate and a constant batch size, and a request for 150
// steps; H_B begins after 100 steps of H_A, H_C after 100 more of H_B; H_E has an exponential learning rate and a
// constant batch size, begins after 200 steps of H_A (the text says 10 once and 200 later), and has a request for 300
// steps. H_A has a checkpoint at 200, H_E at 250. Filled in: all numbers of the functions, constant learning rates of
// H_B, H_C and H_D, H_D beside H_C, and their requests for 300 steps.
ThesisPlan Figure42WithoutCheckpointOfE() {
  ThesisPlan plan;
  plan.Submit(1, "Linear(0.5, -0.002)", 150);
  plan.Submit(2, "Piecewise([Linear(0.5, -0.002), 0.05, 0.02], [100, 200])", 300);
  plan.Submit(3, "Piecewise([Linear(0.5, -0.002), 0.05, 0.01], [100, 200])", 300);
  plan.Submit(4, "Piecewise([Linear(0.5, -0.002), Exponential(0.1, 0.99)], [200])", 300);
  return plan.Checkpoint(4, 200);
}

ThesisPlan Figure42() { return Figure42WithoutCheckpointOfE().Checkpoint(4, 250); }

std::set<std::string> LinesOf(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

}  // namespace

TEST_CASE("figure 1.1: what trials begin alike with is entered once") {
  // Nodes 1 to 5 are A, E, B, C and D.
  CHECK(Figure11().Dump() ==
        "plan 1 trainer=resnet data=cifar10 device_kind=gpu scope=team\n"
        "node 1 start=0 bs=128 lr=0.1\n"
        "  node 2 start=200 lr=0.01 claims=[1@300:waiting]\n"
        "  node 3 start=100 lr=0.05 claims=[2@300:waiting]\n"
        "    node 4 start=200 lr=0.02 claims=[3@300:waiting]\n"
        "    node 5 start=200 lr=0.01 claims=[4@300:waiting]\n");
}

TEST_CASE("figure 3.1: A1 serves all four trials, B1 three of them") {
  // In this order: A1, A2, E, B1, B2, C and D.
  CHECK(Figure11().Stages() ==
        "stage 0: node 1 (0, 100] from init, trials 1 2 3 4\n"
        "  stage 1: node 1 (100, 200], trials 1\n"
        "    stage 4: node 2 (200, 300], claims 1, trials 1\n"
        "  stage 2: node 3 (100, 200], trials 2 3 4\n"
        "    stage 3: node 3 (200, 300], claims 2, trials 2\n"
        "    stage 5: node 4 (200, 300], claims 3, trials 3\n"
        "    stage 6: node 5 (200, 300], claims 4, trials 4\n");
}

TEST_CASE("figure 3.2: trial 5 splits A2 into A3 and A4, and shares A1 and A3 with trial 1") {
  // Chapter 3: stage A of trial 5 has the steps up to 150, then comes F; what came after A2 comes after A4. Section
  // 4.2.1: F goes up to step 300, and all that the plan gains is a child of H_A. Filled in: F is 0.02.
  ThesisPlan plan = Figure11();
  std::set<std::string> lines = LinesOf(plan.Dump());
  plan.Submit(5, "Piecewise([0.1, 0.02], [150])", 300);
  lines.insert("  node 6 start=150 lr=0.02 claims=[5@300:waiting]");
  CHECK(LinesOf(plan.Dump()) == lines);
  // In this order: A1, A3, A4, E, F, B1, B2, C and D.
  CHECK(plan.Stages() ==
        "stage 0: node 1 (0, 100] from init, trials 1 2 3 4 5\n"
        "  stage 1: node 1 (100, 150], trials 1 5\n"
        "    stage 2: node 1 (150, 200], trials 1\n"
        "      stage 6: node 2 (200, 300], claims 1, trials 1\n"
        "    stage 5: node 6 (150, 300], claims 5, trials 5\n"
        "  stage 3: node 3 (100, 200], trials 2 3 4\n"
        "    stage 4: node 3 (200, 300], claims 2, trials 2\n"
        "    stage 7: node 4 (200, 300], claims 3, trials 3\n"
        "    stage 8: node 5 (200, 300], claims 4, trials 4\n");
}

TEST_CASE("figure 4.2: a search plan holds functions, checkpoints and requests") {
  // Nodes 1 to 5 are H_A, H_B, H_C, H_D and H_E. A request is a claim.
  CHECK(Figure42().Dump() ==
        "plan 1 trainer=resnet data=cifar10 device_kind=gpu scope=team\n"
        "node 1 start=0 bs=128 lr=Linear(0.5, -0.002) checkpoints=[200] claims=[1@150:waiting]\n"
        "  node 2 start=100 lr=0.05\n"
        "    node 3 start=200 lr=0.02 claims=[2@300:waiting]\n"
        "    node 4 start=200 lr=0.01 claims=[3@300:waiting]\n"
        "  node 5 start=200 lr=Exponential(0.1, 0.99) from 200 checkpoints=[250] claims=[4@300:waiting]\n");
}

TEST_CASE("figure 4.3: stages begin at the nearest checkpoint, H_E2 at 250") {
  CHECK(Figure42().Stages() ==
        "stage 0: node 1 (0, 100] from init, trials 1 2 3\n"
        "  stage 1: node 1 (100, 150], claims 1, trials 1\n"
        "  stage 2: node 2 (100, 200], trials 2 3\n"
        "    stage 3: node 3 (200, 300], claims 2, trials 2\n"
        "    stage 4: node 4 (200, 300], claims 3, trials 3\n"
        "stage 5: node 5 (250, 300] from checkpoint (5, 250), claims 4, trials 4\n");
}

TEST_CASE("figure 4.3: the request for 300 steps of H_E trains nothing of H_A, whose checkpoint stands at 200") {
  // Section 4.2.1 says so before it comes to H_E's own checkpoint at 250.
  CHECK(Figure42WithoutCheckpointOfE().Stages() ==
        "stage 0: node 1 (0, 100] from init, trials 1 2 3\n"
        "  stage 1: node 1 (100, 150], claims 1, trials 1\n"
        "  stage 2: node 2 (100, 200], trials 2 3\n"
        "    stage 3: node 3 (200, 300], claims 2, trials 2\n"
        "    stage 4: node 4 (200, 300], claims 3, trials 3\n"
        "stage 5: node 5 (200, 300] from checkpoint (1, 200), claims 4, trials 4\n");
}

TEST_CASE("figure 4.3: a checkpoint of H_A at 100 serves H_A's request for 150 steps and H_B") {
  // Section 4.2.2: a checkpoint is made at the end of each stage. The text does not say whether this one still stands.
  CHECK(Figure42().Checkpoint(2, 100).Stages() ==
        "stage 0: node 1 (100, 150] from checkpoint (1, 100), claims 1, trials 1\n"
        "stage 1: node 2 (100, 200] from checkpoint (1, 100), trials 2 3\n"
        "  stage 2: node 3 (200, 300], claims 2, trials 2\n"
        "  stage 3: node 4 (200, 300], claims 3, trials 3\n"
        "stage 4: node 5 (250, 300] from checkpoint (5, 250), claims 4, trials 4\n");
}

}  // namespace espalier
