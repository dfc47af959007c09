#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/toy_cluster.h"

namespace espalier::master {
namespace {

// Every step of the plans' claimed lineages, once.
std::int64_t DistinctStepsTrained(const ToyCluster& cluster) {
  return static_cast<std::int64_t>(cluster.trained.size());
}

const espalier::Claim& LastClaim(const MasterState& state, TrialId trial) {
  const Trial& its = state.trials.at(trial);
  return state.plans.at(its.plan).claims.at(its.claims.back());
}

const Run& OnlyActiveRun(const MasterState& state) {
  REQUIRE(state.active_runs.size() == 1);
  return state.runs.at(*state.active_runs.begin());
}

}  // namespace

TEST_CASE("trials of figure 1.1 train their common beginnings once") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("figure");
  cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [100])"}}, 200);
  cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.05, 0.01], [100, 200])"}}, 300);
  cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.05, 0.02], [100, 200])"}}, 300);
  cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.05, 0.02, 0.01], [100, 200, 300])"}}, 400);
  cluster.RunToRest();
  CHECK(cluster.steps_trained == 100 + 100 + 100 + 100 + 100 + 100);
  CHECK(DistinctStepsTrained(cluster) == cluster.steps_trained);
}

TEST_CASE("a trial that parts ahead of a runner starts from that run's mark") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("split");
  cluster.Submit(study, {{"lr", "0.1"}}, 80);
  for (int turn = 0; turn < 10; ++turn) cluster.Turn();
  cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [40])"}}, 60);
  cluster.RunToRest();
  CHECK(cluster.steps_trained == 80 + 20);
  CHECK(DistinctStepsTrained(cluster) == 80 + 20);
}

TEST_CASE("a trial that parts behind a runner starts from the nearest earlier checkpoint, and the runner goes on") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("behind");
  cluster.Submit(study, {{"lr", "0.1"}}, 20, 80);
  cluster.RunToRest();
  cluster.Claim(TrialId{1}, 80);
  for (int turn = 0; turn < 30; ++turn) cluster.Turn();
  REQUIRE(OnlyActiveRun(cluster.state).at() > Step{40});
  cluster.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [40])"}}, 60);
  cluster.RunToRest();
  CHECK(cluster.steps_trained == 80 + 20 + 20);     // 20 to 40 again, 40 to 60 new
  CHECK(DistinctStepsTrained(cluster) == 80 + 20);  // and nothing else
}

TEST_CASE("cancelling the only trial that needs a run's far part shortens the run to what others need") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("shorten");
  const TrialId far = cluster.Submit(study, {{"lr", "0.1"}}, 80);
  cluster.Submit(study, {{"lr", "0.1"}}, 30);
  for (int turn = 0; turn < 10; ++turn) cluster.Turn();
  cluster.Cancel(far);
  cluster.RunToRest();
  for (int turn = 0; turn < 10; ++turn) cluster.Turn();
  CHECK(cluster.steps_trained == 30);
}

TEST_CASE("a run whose last claim goes stops at once") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("stop");
  const TrialId trial = cluster.Submit(study, {{"lr", "0.1"}}, 80);
  for (int turn = 0; turn < 10; ++turn) cluster.Turn();
  cluster.Cancel(trial);
  CHECK(cluster.state.active_runs.empty());
  const std::int64_t before = cluster.steps_trained;
  for (int turn = 0; turn < 10; ++turn) cluster.Turn();
  CHECK(cluster.steps_trained == before);
}

TEST_CASE("cancelling a study withdraws the claims of trials that are closed already, too") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("cancel");
  const TrialId trial = cluster.Submit(study, {{"lr", "0.1"}}, 80);
  cluster.Finish(study);
  for (int turn = 0; turn < 10; ++turn) cluster.Turn();
  cluster.Call(CancelStudy{study});
  CHECK(LastClaim(cluster.state, trial).state == ClaimState::kCancelled);
  CHECK(cluster.state.active_runs.empty());
  CHECK(cluster.state.studies.at(study).finished_at);
}

TEST_CASE("an open trial's claim further on continues from its last claim") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("further");
  const TrialId trial = cluster.Submit(study, {{"lr", "MultiStep(0.1, [40], 0.1)"}}, 15, 60);
  cluster.RunToRest();
  cluster.Claim(trial, 60);
  cluster.RunToRest();
  CHECK(cluster.steps_trained == 60);
  CHECK(LastClaim(cluster.state, trial).state == ClaimState::kDone);
}

TEST_CASE("a claim on a stored metric is answered at once, without training") {
  ToyCluster cluster(1);
  cluster.Submit(cluster.CreateStudy("first"), {{"lr", "0.1"}}, 20);
  cluster.RunToRest();
  const TrialId again = cluster.Submit(cluster.CreateStudy("second"), {{"lr", "Constant(0.1)"}}, 20);
  CHECK(LastClaim(cluster.state, again).state == ClaimState::kDone);
  CHECK(cluster.steps_trained == 20);
}

TEST_CASE("trials of the scope nobody share nothing") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("alone", Scope::kNobody);
  cluster.Submit(study, {{"lr", "0.1"}}, 20);
  cluster.Submit(study, {{"lr", "0.1"}}, 20);
  cluster.RunToRest();
  CHECK(cluster.steps_trained == 40);
}

TEST_CASE("three crashes without progress fail the claims beyond, and no others") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("crash");
  const TrialId doomed = cluster.Submit(study, {{"lr", "0.1"}}, 20);
  for (int i = 0; i < 3; ++i) {
    while (cluster.nodes[0].runs.empty()) cluster.Turn();  // it pauses after a crash
    for (int turn = 0; turn < 5; ++turn) cluster.Turn();
    cluster.CrashARun();
  }
  cluster.RunToRest();
  CHECK(LastClaim(cluster.state, doomed).state == ClaimState::kFailed);
  CHECK(cluster.state.runs.size() == 3);
  const TrialId other = cluster.Submit(study, {{"lr", "0.2"}}, 20);
  cluster.RunToRest();
  CHECK(LastClaim(cluster.state, other).state == ClaimState::kDone);
}

TEST_CASE("a finished study has every trial closed, every claim settled, and says so last") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("finish");
  cluster.Submit(study, {{"lr", "0.1"}}, 20);
  cluster.Finish(study);
  CHECK_FALSE(cluster.state.studies.at(study).finished_at);
  cluster.RunToRest();
  CHECK(cluster.state.studies.at(study).finished_at);
  CHECK(std::holds_alternative<StudyFinished>(cluster.state.events.at(study).back()));
}

namespace {

std::string RandomSequence(std::mt19937_64& random) {
  const char* values[] = {"0.1", "0.2", "Exponential(0.1, 0.9)"};
  std::string pieces;
  std::string milestones;
  std::int64_t step = 0;
  const std::uint64_t count = 1 + random() % 3;
  for (std::uint64_t i = 0; i < count; ++i) {
    pieces += (i == 0 ? "" : ", ") + std::string(values[random() % 3]);
    if (i == 0) continue;
    step += 1 + static_cast<std::int64_t>(random() % 15);
    milestones += (milestones.empty() ? "" : ", ") + std::to_string(step);
  }
  return count == 1 ? pieces : "Piecewise([" + pieces + "], [" + milestones + "])";
}

}  // namespace

TEST_CASE("whatever the messages' delays, each claimed step of trials submitted together is trained once",
          "[property]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    ToyCluster cluster(seed, 1 + static_cast<int>(random() % 2), 1 + static_cast<int>(random() % 3));
    const StudyId study = cluster.CreateStudy("random");
    const std::uint64_t trials = 1 + random() % 12;
    for (std::uint64_t i = 0; i < trials; ++i) {
      cluster.Submit(study, {{"lr", RandomSequence(random)}}, 1 + static_cast<std::int64_t>(random() % 40));
    }
    cluster.upload_turns_max = static_cast<int>(random() % 20);
    cluster.RunToRest(1 + static_cast<int>(random() % 8));
    CHECK(DistinctStepsTrained(cluster) == cluster.steps_trained);
  }
}

TEST_CASE("crashes, lost servers and a restarted master at any moment end in the same results", "[property]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    ToyCluster cluster(seed, 2, 2);
    cluster.upload_turns_max = static_cast<int>(random() % 20);
    const StudyId study = cluster.CreateStudy("faults");
    std::vector<TrialId> trials;
    for (int round = 0; round < 6; ++round) {
      for (int i = 0; i < 3; ++i) {
        const std::int64_t steps = 1 + static_cast<std::int64_t>(random() % 40);
        trials.push_back(cluster.Submit(study, {{"lr", RandomSequence(random)}}, steps, 60));
      }
      for (std::uint64_t turn = 0; turn < random() % 20; ++turn) cluster.Turn(3);
      switch (random() % 4) {
        case 0:
          cluster.RestartNode(random() % 2);
          break;
        case 1:
          cluster.RestartMaster();
          break;
        case 2:
          cluster.Cancel(trials.back());
          trials.pop_back();
          break;
        default:
          break;
      }
    }
    cluster.RunToRest(3);
    for (const TrialId trial : trials) {
      const espalier::Claim& claim = LastClaim(cluster.state, trial);
      CHECK(claim.state == ClaimState::kDone);
      CHECK(cluster.state.plans.begin()->second.FindMetrics(claim.point, claim.evaluation) != nullptr);
    }
    cluster.Finish(study);
    for (int turn = 0; turn < 50; ++turn) cluster.Turn();
    CHECK(cluster.state.studies.at(study).finished_at);
    CHECK(cluster.state.active_runs.empty());
  }
}

}  // namespace espalier::master
