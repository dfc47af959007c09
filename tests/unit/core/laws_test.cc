#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/rounds.h"
#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

// Every step of the plans' claimed lineages, once.
std::int64_t DistinctStepsTrained(const SimulatedService& service) {
  return static_cast<std::int64_t>(service.trained.size());
}

const Run& OnlyActiveRun(const MasterState& state) {
  REQUIRE(state.active_runs.size() == 1);
  return state.runs.at(*state.active_runs.begin());
}

}  // namespace

TEST_CASE("trials of figure 1.1 train their common beginnings once") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("figure");
  service.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [100])"}}, 200);
  service.Submit(study, {{"lr", "Piecewise([0.1, 0.05, 0.01], [100, 200])"}}, 300);
  service.Submit(study, {{"lr", "Piecewise([0.1, 0.05, 0.02], [100, 200])"}}, 300);
  service.Submit(study, {{"lr", "Piecewise([0.1, 0.05, 0.02, 0.01], [100, 200, 300])"}}, 400);
  service.RunToRest();
  CHECK(service.steps_trained == 100 + 100 + 100 + 100 + 100 + 100);
  CHECK(DistinctStepsTrained(service) == service.steps_trained);
}

TEST_CASE("a trial that parts ahead of a runner starts from that run's mark") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("split");
  service.Submit(study, {{"lr", "0.1"}}, 80);
  service.RunUntil([&] { return service.steps_trained == 10; });
  service.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [40])"}}, 60);
  service.RunToRest();
  CHECK(service.steps_trained == 80 + 20);
  CHECK(DistinctStepsTrained(service) == 80 + 20);
}

TEST_CASE("a trial that parts behind a runner starts from the nearest earlier checkpoint, and the runner goes on") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("behind");
  service.Submit(study, {{"lr", "0.1"}}, 20, 80);
  service.RunToRest();
  service.Claim(TrialId{1}, 80);
  service.RunUntil([&] { return OnlyActiveRun(service.state()).at() > Step{40}; });
  service.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [40])"}}, 60);
  service.RunToRest();
  CHECK(service.steps_trained == 80 + 20 + 20);     // 20 to 40 again, 40 to 60 new
  CHECK(DistinctStepsTrained(service) == 80 + 20);  // and nothing else
}

TEST_CASE("cancelling the only trial that needs a run's far part shortens the run to what others need") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("shorten");
  const TrialId far = service.Submit(study, {{"lr", "0.1"}}, 80);
  service.Submit(study, {{"lr", "0.1"}}, 30);
  service.RunUntil([&] { return service.steps_trained == 10; });
  service.Cancel(far);
  service.RunToRest();
  CHECK(service.steps_trained == 30);
}

TEST_CASE("a run whose last claim goes stops at once") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("stop");
  const TrialId trial = service.Submit(study, {{"lr", "0.1"}}, 80);
  service.RunUntil([&] { return service.steps_trained == 10; });
  service.Cancel(trial);
  CHECK(service.state().active_runs.empty());
  service.RunToRest();
  CHECK(service.steps_trained <= 11);  // the step that the worker was at
}

TEST_CASE("cancelling a study withdraws the claims of trials that are closed already, too") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("cancel");
  const TrialId trial = service.Submit(study, {{"lr", "0.1"}}, 80);
  service.Finish(study);
  service.RunUntil([&] { return service.steps_trained == 10; });
  service.Call(CancelStudy{study});
  CHECK(service.LastClaim(trial).state == ClaimState::kCancelled);
  CHECK(service.state().active_runs.empty());
  CHECK(service.state().studies.at(study).finished_at);
}

TEST_CASE("an open trial's claim further on continues from its last claim") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("further");
  const TrialId trial = service.Submit(study, {{"lr", "MultiStep(0.1, [40], 0.1)"}}, 15, 60);
  service.RunToRest();
  service.Claim(trial, 60);
  service.RunToRest();
  CHECK(service.steps_trained == 60);
  CHECK(service.LastClaim(trial).state == ClaimState::kDone);
}

TEST_CASE("a claim on a stored metric is answered at once, without training") {
  SimulatedService service;
  service.Submit(service.CreateStudy("first"), {{"lr", "0.1"}}, 20);
  service.RunToRest();
  const TrialId again = service.Submit(service.CreateStudy("second"), {{"lr", "Constant(0.1)"}}, 20);
  CHECK(service.LastClaim(again).state == ClaimState::kDone);
  CHECK(service.steps_trained == 20);
}

TEST_CASE("trials of the scope nobody share nothing") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("alone", Scope::kNobody);
  service.Submit(study, {{"lr", "0.1"}}, 20);
  service.Submit(study, {{"lr", "0.1"}}, 20);
  service.RunToRest();
  CHECK(service.steps_trained == 40);
}

TEST_CASE("three crashes without progress fail the claims beyond, and no others") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("crash");
  const TrialId doomed = service.Submit(study, {{"lr", "0.1"}}, 20);
  for (const int trained : {5, 10, 15}) {
    service.RunUntil([&] { return service.steps_trained >= trained && service.CrashAWorker(); });
  }
  service.RunToRest();
  CHECK(service.LastClaim(doomed).state == ClaimState::kFailed);
  CHECK(service.state().runs.size() == 3);
  const TrialId other = service.Submit(study, {{"lr", "0.2"}}, 20);
  service.RunToRest();
  CHECK(service.LastClaim(other).state == ClaimState::kDone);
}

TEST_CASE("a finished study has every trial closed, every claim settled, and says so last") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("finish");
  service.Submit(study, {{"lr", "0.1"}}, 20);
  service.Finish(study);
  CHECK_FALSE(service.state().studies.at(study).finished_at);
  service.RunToRest();
  CHECK(service.state().studies.at(study).finished_at);
  CHECK(std::holds_alternative<StudyFinished>(service.state().events.at(study).back()));
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
  for (std::uint64_t seed = 1; seed <= Rounds(60); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    SimulatedService service({.servers = 1 + static_cast<int>(random() % 2),
                              .slots = 1 + static_cast<int>(random() % 3),
                              .seed = seed,
                              .durations = std::nullopt});
    SubmitBatch together{.study = service.CreateStudy("random")};
    const std::uint64_t trials = 1 + random() % 12;
    for (std::uint64_t i = 0; i < trials; ++i) {
      const Step steps{1 + static_cast<std::int64_t>(random() % 40)};
      together.new_trials.push_back({{{"lr", RandomSequence(random)}}, steps, Step{0}});
    }
    service.Call(together);
    service.RunToRest();
    CHECK(DistinctStepsTrained(service) == service.steps_trained);
  }
}

TEST_CASE("crashes, lost servers and a restarted master at any moment end in the same results", "[property]") {
  for (std::uint64_t seed = 1; seed <= Rounds(25); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    SimulatedService service({.servers = 2, .seed = seed, .durations = std::nullopt});
    const StudyId study = service.CreateStudy("faults");
    std::vector<TrialId> trials;
    bool has_crashed = false;
    for (int round = 0; round < 6; ++round) {
      for (int i = 0; i < 3; ++i) {
        const std::int64_t steps = 1 + static_cast<std::int64_t>(random() % 40);
        trials.push_back(service.Submit(study, {{"lr", RandomSequence(random)}}, steps, 60));
      }
      service.RunFor(Seconds(static_cast<double>(random() % 20)));
      switch (random() % 5) {
        case 0:
          service.RestartServer(random() % 2);
          break;
        case 1:
          service.RestartMaster();
          break;
        case 2:
          service.Cancel(trials.back());
          trials.pop_back();
          break;
        case 3:
          has_crashed = has_crashed || service.CrashAWorker();
          break;
        default:
          break;
      }
    }
    service.RunToRest();
    for (const TrialId trial : trials) {
      const espalier::Claim& claim = service.LastClaim(trial);
      CHECK(claim.state == ClaimState::kDone);
      CHECK(service.state().plans.begin()->second.FindMetrics(claim.point, claim.evaluation) != nullptr);
    }
    service.Finish(study);
    service.RunToRest();
    CHECK(service.state().studies.at(study).finished_at);
    CHECK(service.state().active_runs.empty());
  }
}

}  // namespace espalier::master
