// The policy that goes for the best metric by a deadline (scheduler/meet_deadlines.h), in a whole master.
#include <catch2/catch.hpp>
#include <memory>
#include <random>

#include "tests/support/random_seed.h"
#include "tests/support/without_memory.h"

namespace espalier::master {
namespace {

// A trial alone takes 30 s at least.
constexpr std::int64_t kHorizon = 300;

StudySpecification By(Seconds deadline, bool may_stop = true) {
  return {.name = "study",
          .evaluate_every = 5,
          .policy = {.may_stop = may_stop, .deadline = deadline, .min_steps = 5, .speeds = {{2, 1.9}, {4, 3.5}}}};
}

std::unique_ptr<SimulatedService> Service() {
  return std::make_unique<SimulatedService>(SimulatedSettings{.slots = 4, .policy = "hypersched"});
}

std::string Rate(std::int64_t i) { return std::to_string(0.01 * static_cast<double>(i + 1)); }

bool Begins(const Trial& trial, std::string_view with) { return trial.label && trial.label->text.starts_with(with); }

struct Outcome {
  int held = 0;
  int released = 0;
  int preempted = 0;
  int wide = 0;
};

Outcome OutcomeOf(const MasterState& state) {
  Outcome outcome;
  for (const auto& [id, trial] : state.trials) {
    outcome.released += trial.cancelled ? 1 : 0;
    outcome.held += Begins(trial, "released at its deadline: held") ? 1 : 0;
  }
  for (const auto& [id, run] : state.runs) {
    outcome.preempted += run.preempt ? 1 : 0;
    outcome.wide += run.slots > 1 ? 1 : 0;
  }
  return outcome;
}

}  // namespace

TEST_CASE("by its deadline a study has held what fell behind, given slots to what leads, and ended with a result") {
  const auto service = Service();
  const StudyId study = service->AddStudy(By(Seconds(60)));
  std::vector<TrialId> trials;
  constexpr std::int64_t kTooLong = 5 * kHorizon;  // none is trained to its end
  for (std::int64_t i = 0; i < 40; ++i) trials.push_back(service->Submit(study, {{"lr", Rate(i)}}, kTooLong));
  service->RunFor(Seconds(61));
  const MasterState& state = service->state();
  const Outcome outcome = OutcomeOf(state);
  CHECK(outcome.held > 0);
  CHECK(outcome.wide > 0);
  for (const TrialId id : trials) CHECK(state.trials.at(id).cancelled);
  service->RunToRest();
  // The best has its last metric as its result, and its state.
  const BestTrial best = state.trial_index.at(study).best().value();
  const Trial& trial = state.trials.at(best.trial);
  const SearchPlan& plan = state.plans.at(trial.plan);
  CHECK(plan.FindCheckpoint(PointOn(plan, trial.leaf, best.step)) != nullptr);
}

TEST_CASE("a study that lets nobody stop its trials goes on after its deadline, and all of it is trained") {
  const auto service = Service();
  const StudyId study = service->AddStudy(By(Seconds(20), /*may_stop=*/false));
  for (std::int64_t i = 0; i < 12; ++i) service->Submit(study, {{"lr", Rate(i)}}, kHorizon);
  service->RunToRest();
  for (const auto& [id, trial] : service->state().trials) {
    CHECK_FALSE(trial.cancelled);
    const SearchPlan& plan = service->state().plans.at(trial.plan);
    CHECK(plan.claims.at(trial.claims.back()).state == ClaimState::kDone);
  }
}

TEST_CASE("studies without a deadline have the slots that one with a deadline does not want") {
  const auto service = Service();
  const StudyId other = service->AddStudy({.name = "other"});
  const StudyId study = service->AddStudy(By(Seconds(30)));
  service->Submit(study, {{"lr", Rate(1)}}, kHorizon);
  for (std::int64_t i = 0; i < 8; ++i) service->Submit(other, {{"lr", Rate(i + 50)}}, kHorizon);
  service->RunToRest();
  const MasterState& state = service->state();
  CHECK(state.trial_index.at(other).Count(TrialStanding::kWaiting) == 0);
  for (const TrialId id : state.trials_by_study.at(other)) CHECK_FALSE(state.trials.at(id).label);
}

TEST_CASE("what holds and grows by a deadline decides the same when its memory is lost before every event", "[large]") {
  const std::uint64_t seed = RandomSeed("meet_deadlines_test");
  INFO("seed " << seed);
  Outcome all;
  for (std::uint64_t each = seed; each < seed + 6; ++each) {
    std::mt19937_64 random(each);
    const auto below = [&](std::uint64_t count) { return static_cast<std::int64_t>(random() % count); };
    const bool may_stop = below(2) == 0;
    CAPTURE(each, may_stop);
    std::vector<std::pair<std::int64_t, std::string>> trials;
    for (int i = 0; i < 24; ++i) {
      const std::string turns = std::to_string(20 + 40 * below(3));
      trials.emplace_back(below(3), "Piecewise([" + Rate(below(4)) + ", " + Rate(below(4)) + "], [" + turns + "])");
    }
    const auto service =
        CheckSameWithoutMemory({.slots = 4, .policy = "hypersched", .seed = each}, [&](SimulatedService& one) {
          StudySpecification second = By(Seconds(70), may_stop);
          second.name = "second";
          second.priority = 2;
          const StudyId studies[] = {one.AddStudy(By(Seconds(50))), one.AddStudy(second),
                                     one.AddStudy({.name = "other"})};
          for (const auto& [study, lr] : trials) {
            one.Submit(studies[study], {{"lr", lr}}, kHorizon);
            one.RunFor(Seconds(1));
          }
        });
    const Outcome outcome = OutcomeOf(service->state());
    all.held += outcome.held;
    all.released += outcome.released;
    all.preempted += outcome.preempted;
    all.wide += outcome.wide;
  }
  CHECK(all.held > 0);
  CHECK(all.released > 10);
  CHECK(all.preempted > 10);
  CHECK(all.wide > 0);
}

}  // namespace espalier::master
