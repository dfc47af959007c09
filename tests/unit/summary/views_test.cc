#include <catch2/catch.hpp>
#include <limits>
#include <sstream>

#include "master/core/state/index_keeper.h"
#include "master/core/views/list_trials.h"
#include "master/core/views/plan_view.h"
#include "master/core/views/study_progress.h"
#include "master/core/views/study_summary.h"
#include "master/core/views/trial_state.h"
#include "tests/unit/summary/state_builder.h"

namespace espalier::master {
namespace {

const std::string kHalvedAt40 = "MultiStep(0.1, [40], gamma=0.5)";

// Two trials of 80 steps that share the first 40.
struct TwoViewedTrials : StateBuilder {
  std::string StateOf(TrialId trial) const { return TrialState(state, state.trials.at(trial)); }

  const StudyId study = AddStudy();
  const TrialId constant = AddTrial(study, "0.1", 80);
  const TrialId multi = AddTrial(study, kHalvedAt40, 80);
};

std::string Text(const std::vector<PlanNodeView>& nodes) {
  std::ostringstream out;
  for (const PlanNodeView& node : nodes) {
    out << node.id.value << " from " << node.start.value << " trials=" << node.trial_count;
    for (const auto& [name, function] : node.functions) out << " " << name << "=" << function;
    for (const StageView& stage : node.stages) {
      out << " " << stage.from.value << ".." << stage.to.value << " " << Name(stage.state);
    }
    for (const Step step : node.checkpoints) out << " @" << step.value;
    out << "\n";
  }
  return out.str();
}

}  // namespace

TEST_CASE("a trial runs while a run that trains serves its claim") {
  TwoViewedTrials s;
  CHECK(s.StateOf(s.multi) == "idle");
  s.AddClaim(s.multi, 80);
  CHECK(s.StateOf(s.multi) == "waiting");
  const RunId run = s.AddRun({s.study}, s.constant, 0, 80);
  CHECK(s.StateOf(s.multi) == "waiting");  // it passes the trial's steps, and does nothing for it
  s.Promise(run, 40);
  CHECK(s.StateOf(s.multi) == "running");
  s.SettlePromise(run, 40, PromiseState::kLost, 1);
  CHECK(s.StateOf(s.multi) == "waiting");
  s.Promise(run, 40);
  s.EndRun(run, 1);
  CHECK(s.StateOf(s.multi) == "waiting");
}

TEST_CASE("a trial runs while its point is being evaluated") {
  TwoViewedTrials s;
  s.StoreCheckpoint(s.multi, 80);
  s.AddClaim(s.multi, 80);
  const RunId run = s.AddRun({s.study}, s.multi, 80, 80);
  CHECK(s.StateOf(s.multi) == "waiting");
  s.Promise(run, 80, Owed::kMetrics);
  CHECK(s.StateOf(s.multi) == "running");
  s.EndRun(run, 1);
  CHECK(s.StateOf(s.multi) == "waiting");
}

TEST_CASE("a trial without waiting claims is idle, done, failed or cancelled") {
  TwoViewedTrials s;
  s.Claimed(s.constant, 80);
  CHECK(s.StateOf(s.constant) == "idle");
  s.Close(s.constant);
  CHECK(s.StateOf(s.constant) == "done");
  s.Settle(s.AddClaim(s.multi, 80), ClaimState::kFailed);
  CHECK(s.StateOf(s.multi) == "failed");
  s.Close(s.multi, true);
  CHECK(s.StateOf(s.multi) == "cancelled");
  CHECK(Summarize(s.state, s.study, At(0)).trials_by_state ==
        std::map<std::string, std::int64_t>{{"cancelled", 1}, {"done", 1}});
}

TEST_CASE("the list of trials shows what the done claims gave, and why others failed") {
  TwoViewedTrials s;
  s.Claimed(s.constant, 20, 0.25);
  s.Claimed(s.constant, 80, 0.75);
  s.StoreCheckpoint(s.constant, 80);
  s.Change(s.multi, SetFailure{s.On(s.multi, 50), Failure{Failure::Kind::kTrainer, "no such file"}});
  s.Claimed(s.multi, 45, 0.5);
  s.Settle(s.AddClaim(s.multi, 80), ClaimState::kFailed);
  const std::vector<TrialSummary> trials = ListTrials(s.state, {.study = s.study, .count_max = 10}).value().trials;
  REQUIRE(trials.size() == 2);
  CHECK(trials[0].id == s.constant);
  CHECK(trials[0].state == "idle");
  CHECK(trials[0].steps == Step{80});
  CHECK(trials[0].metric == 0.75);
  CHECK(trials[0].state_sha256 == "sha80");
  REQUIRE(trials[0].evaluations.size() == 2);
  CHECK(trials[0].evaluations[0].step == Step{20});
  CHECK(trials[0].evaluations[0].metrics == Metrics{{"test_acc", 0.25}});
  CHECK(trials[0].message.empty());
  CHECK(trials[1].state == "failed");
  CHECK(trials[1].steps == Step{45});
  CHECK(trials[1].state_sha256.empty());
  CHECK(trials[1].message == "no such file");
}

TEST_CASE("a diverged trial's metric is NaN") {
  TwoViewedTrials s;
  s.Change(s.constant, SetFailure{s.On(s.constant, 10), Failure{Failure::Kind::kDiverged, "loss is nan"}});
  s.Settle(s.AddClaim(s.constant, 80), ClaimState::kDone);
  const std::vector<TrialSummary> trials = ListTrials(s.state, {.study = s.study, .count_max = 10}).value().trials;
  REQUIRE(trials[0].metric.has_value());
  CHECK(*trials[0].metric != *trials[0].metric);
  CHECK_FALSE(trials[1].metric.has_value());
}

TEST_CASE("progress counts what is claimed and what of it is trained") {
  TwoViewedTrials s;
  s.Claimed(s.constant, 20);
  s.AddClaim(s.constant, 80);
  s.AddClaim(s.multi, 60);
  StudyProgress progress = ProgressOf(s.state, s.study, At(0));
  CHECK(progress.claimed_steps == 140);
  CHECK(progress.unique_steps == 100);
  CHECK(progress.trained_steps == 0);
  CHECK(progress.left < Seconds{0});  // nothing measured
  CHECK(progress.trials_by_state == std::map<std::string, std::int64_t>{{"waiting", 2}});
  s.Trained({s.study}, s.constant, 0, 50, 0, 2);
  s.Trained({s.study}, s.multi, 40, 50, 0, 2);
  IndexKeeper(s.state).ReestimateSome(2);
  CHECK(ProgressOf(s.state, s.study, At(0)).left.count() == Approx(160));  // nothing stands to go on from
  s.StoreCheckpoint(s.constant, 50);
  s.StoreCheckpoint(s.multi, 50);
  progress = ProgressOf(s.state, s.study, At(0));
  CHECK(progress.trained_steps == 60);
  CHECK(progress.left.count() == Approx(60));  // 30 steps in a row beside 10, 2 s each, on two slots
  Apply(s.state, RemoveServer{"server"});
  CHECK(ProgressOf(s.state, s.study, At(0)).left < Seconds{0});
}

TEST_CASE("what is left is estimated anew, in turns, once steps of the training were measured") {
  TwoViewedTrials s;
  s.AddClaim(s.constant, 80);
  const TrialId measured = s.AddTrial(s.study, "0.2", 10);
  s.Trained({s.study}, measured, 0, 10, 0, 0.5);
  CHECK(ProgressOf(s.state, s.study, At(0)).left < Seconds{0});  // some of it was guessed before
  IndexKeeper(s.state).ReestimateSome(1);
  CHECK(ProgressOf(s.state, s.study, At(0)).left.count() == Approx(40));
}

TEST_CASE("what is left counts what each claim takes besides its steps") {
  TwoViewedTrials s;
  s.Trained({s.study}, s.AddTrial(s.study, "0.2", 10), 0, 10, 0, 1);
  s.AddClaim(s.constant, 80);
  s.AddClaim(s.multi, 60);
  const double steps_alone = ProgressOf(s.state, s.study, At(0)).left.count();
  CHECK(steps_alone == Approx(80));
  const PlanNodeId node = s.On(s.constant, 80).node;
  s.Change(s.constant, SetMeasurement{node, CostKind::kLoad, {.count = 1, .total = 50'000'000}});
  s.Change(s.constant, SetMeasurement{node, CostKind::kEvaluate, {.count = 1, .total = 70'000'000}});
  // 100 steps of 1 s and two claims of 120 s more each, on two slots.
  CHECK(ProgressOf(s.state, s.study, At(0)).left.count() == Approx(170));
}

TEST_CASE("progress warns of a run that stays at a step for 30 minutes, where none was ever measured") {
  TwoViewedTrials s;
  s.AddClaim(s.constant, 80);
  const RunId run = s.AddRun({s.study}, s.constant, 0, 80);
  CHECK(ProgressOf(s.state, s.study, At(30 * 60 - 1)).warnings.empty());
  const std::vector<std::string> warnings = ProgressOf(s.state, s.study, At(30 * 60)).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with("run " + std::to_string(run.value) + " has been at step 0 for 30 min"));
  const StudyId other = s.AddStudy();
  CHECK(ProgressOf(s.state, other, At(30 * 60)).warnings.empty());
}

TEST_CASE("nothing is left when no claim waits, and withdrawn claims do not count") {
  TwoViewedTrials s;
  s.Claimed(s.constant, 20);
  s.Settle(s.AddClaim(s.constant, 80), ClaimState::kCancelled);
  CHECK(ProgressOf(s.state, s.study, At(0)).claimed_steps == 20);
  CHECK(ProgressOf(s.state, s.study, At(0)).left == Seconds{0});
}

TEST_CASE("the plan's view cuts each node where its state changes") {
  TwoViewedTrials s;
  s.AddClaim(s.constant, 60);
  s.AddClaim(s.multi, 70);
  const RunId run = s.AddRun({s.study}, s.constant, 0, 60);
  s.Promise(run, 50);
  s.Train(run, 0, 30);
  s.StoreCheckpoint(s.constant, 20);
  CHECK(Text(ViewPlan(s.state, s.study)) ==
        "1 from 0 trials=2 lr=0.1 0..30 trained 30..50 running 50..60 waiting 60..80 planned @20\n"
        "2 from 40 trials=1 lr=0.05 40..70 waiting 70..80 planned\n");
}

TEST_CASE("the plan's view says who trains a stage, what is claimed, and how long a step takes") {
  TwoViewedTrials s;
  s.Claimed(s.constant, 20);
  s.AddClaim(s.constant, 60);
  s.AddClaim(s.multi, 60);
  s.AddClaim(s.multi, 70);
  s.Promise(s.AddRun({s.study}, s.constant, 0, 60), 40);
  const std::vector<PlanNodeView> nodes = ViewPlan(s.state, s.study);
  CHECK(nodes[0].costs.empty());
  CHECK(nodes[0].claims == std::map<std::pair<Step, ClaimState>, std::int64_t>{{{Step{20}, ClaimState::kDone}, 1},
                                                                               {{Step{60}, ClaimState::kWaiting}, 1}});
  CHECK(nodes[1].claims == std::map<std::pair<Step, ClaimState>, std::int64_t>{{{Step{60}, ClaimState::kWaiting}, 1},
                                                                               {{Step{70}, ClaimState::kWaiting}, 1}});
  REQUIRE(nodes[0].stages.size() == 3);
  CHECK(nodes[0].stages[0].placed_on == PlacedStage{.server = "server", .slot = 0, .run = RunId{1}});
  CHECK_FALSE(nodes[0].stages[1].placed_on.has_value());
  s.Trained({s.study}, s.multi, 40, 50, 0, 2);
  CHECK(ViewPlan(s.state, s.study)[1].costs == NodeCosts{{CostKind::kStep, 2e6}});
}

TEST_CASE("what training costs is measured under its plan node, else estimated, and left out where it never was") {
  TwoViewedTrials s;
  const PlanNodeId first = s.On(s.constant, 80).node;
  const PlanNodeId second = s.On(s.multi, 80).node;
  s.Change(s.constant, SetMeasurement{first, CostKind::kUtilization, {.count = 4, .total = 2000}});
  s.Change(s.constant, SetMeasurement{first, CostKind::kMemory, {.count = 1, .total = 1000}});
  s.Change(s.constant, SetMeasurement{second, CostKind::kMemory, {.count = 1, .total = 3000}});
  const std::vector<PlanNodeView> nodes = ViewPlan(s.state, s.study);
  CHECK(nodes[0].costs == NodeCosts{{CostKind::kMemory, 1000}, {CostKind::kUtilization, 500}});
  CHECK(nodes[1].costs == NodeCosts{{CostKind::kMemory, 3000}, {CostKind::kUtilization, 500}});
}

TEST_CASE("where everyone shares, a plan's view shows others' runs without their names, and none of their claims") {
  StateBuilder s;
  const StudyId theirs = s.AddStudy(Scope::kEveryone);
  const TrialId other = s.AddTrial(theirs, "0.1", 80);
  s.AddClaim(other, 50);
  s.team = "others";
  const StudyId study = s.AddStudy(Scope::kEveryone);
  s.AddClaim(s.AddTrial(study, "0.1", 80), 60);
  s.Promise(s.AddRun({theirs}, other, 0, 50), 50);
  const std::vector<PlanNodeView> nodes = ViewPlan(s.state, study);
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].stages[0].placed_on == PlacedStage{.server = "server", .slot = 0, .run = std::nullopt});
  CHECK(nodes[0].claims == std::map<std::pair<Step, ClaimState>, std::int64_t>{{{Step{60}, ClaimState::kWaiting}, 1}});
}

TEST_CASE("the plan's view shows nothing of other studies") {
  StateBuilder s;
  const StudyId other = s.AddStudy(Scope::kTeam);
  const TrialId theirs = s.AddTrial(other, "0.1", 200);
  s.AddTrial(other, "MultiStep(0.1, [20], gamma=0.5)", 200);
  s.Trained({other}, theirs, 0, 200);
  s.StoreCheckpoint(theirs, 200);
  const StudyId study = s.AddStudy(Scope::kTeam);
  s.AddTrial(study, kHalvedAt40, 80);
  CHECK(Text(ViewPlan(s.state, study)) ==
        "1 from 0 trials=1 lr=0.1 0..40 trained\n"
        "3 from 40 trials=1 lr=0.05 40..80 planned\n");
}

TEST_CASE("where everyone shares, a plan's view tells what is trained, and not where others' trials part") {
  StateBuilder s;
  const StudyId theirs = s.AddStudy(Scope::kEveryone);
  s.AddTrial(theirs, "MultiStep(0.1, [37], gamma=0.5)", 80);
  s.team = "others";
  const StudyId study = s.AddStudy(Scope::kEveryone);
  const TrialId constant = s.AddTrial(study, "0.1", 60);
  s.AddTrial(study, kHalvedAt40, 60);
  s.Trained({theirs, study}, constant, 0, 60);
  s.Claimed(constant, 50);
  for (const std::int64_t step : {37, 40, 45, 50}) s.StoreCheckpoint(constant, step);
  CHECK(Text(ViewPlan(s.state, study)) ==
        "1 from 0 trials=2 lr=0.1 0..60 trained @40 @50\n"
        "3 from 40 trials=1 lr=0.05 40..60 planned\n");
  CHECK(Text(ViewPlan(s.state, theirs)) ==
        "1 from 0 trials=1 lr=0.1 0..37 trained @37\n"
        "2 from 37 trials=1 lr=0.05 37..80 planned\n");
}

}  // namespace espalier::master
