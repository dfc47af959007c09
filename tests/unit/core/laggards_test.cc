// Policies that release trials which lag behind (scheduler/release_laggards.h), in a whole master: who is released,
// when, and what is left of it after a restart.
#include <catch2/catch.hpp>
#include <random>

#include "tests/support/random_seed.h"
#include "tests/support/server_by_hand.h"
#include "tests/support/without_memory.h"

namespace espalier::master {
namespace {

StudySpecification Watched(std::int64_t every = 10, Goal goal = Goal::kMaximize, bool may_stop = true) {
  return {.name = "study", .evaluate_every = every, .goal = goal, .policy = {.may_stop = may_stop}};
}

// Trials of 60 steps, each with a run of its own, which says what it measured.
struct Race : ServerByHand {
  explicit Race(StudySpecification settings, const std::string& name = "bandit")
      : ServerByHand(4, std::move(settings)) {
    Call(ChoosePolicy{name});
    Handle(Tick{});
  }

  // Of a way of its own.
  TrialId Enter(const std::string& lr, StudyId of) { return Submit(of, {{"lr", lr}}, 60); }
  TrialId Enter(const std::string& lr) { return Enter(lr, study); }
  // On the way of the trial. REQUIRES: a run of it is under way.
  void Reach(TrialId trial, std::int64_t step, double score) {
    const espalier::master::Trial& its = state().trials.at(trial);
    const Point point = PointOn(Plan(), its.leaf, Step{step});
    for (const RunId id : state().active_runs) {
      const Run& run = RunOf(id);
      if (!run.training() || run.path.empty()) continue;
      const bool passes = std::ranges::any_of(run.path, [&](const PathStage& stage) {
        return stage.node == point.node && stage.from < point.step && point.step <= stage.to;
      });
      if (passes) return Measure(run, point, score);
    }
    FAIL("nobody trains that");
  }
  std::string LabelOf(TrialId trial) const {
    const std::optional<TrialLabel>& label = state().trials.at(trial).label;
    return label ? label->text : "";
  }
  bool IsReleased(TrialId trial) const {
    const espalier::master::Trial& its = state().trials.at(trial);
    CHECK(its.cancelled == LabelOf(trial).starts_with("released"));
    CHECK(its.cancelled == (LastClaim(trial).state == ClaimState::kCancelled));
    return its.cancelled;
  }
};

}  // namespace

TEST_CASE("bandit releases a trial once its best times 1.5 does not exceed the best of its study, and no sooner") {
  Race race(Watched());
  const TrialId good = race.Enter("0.1");
  const TrialId poor = race.Enter("0.2");
  SECTION("just enough") {
    race.Reach(good, 10, 0.74);
    race.Reach(poor, 10, 0.5);
    CHECK_FALSE(race.IsReleased(poor));
  }
  SECTION("not enough") {
    race.Reach(good, 10, 0.75);
    race.Reach(poor, 10, 0.5);
    CHECK(race.IsReleased(poor));
    CHECK(race.state().trials.at(poor).label ==
          TrialLabel{"bandit", "released at step 10: its best was 0.5, its last 0.5, the best of its study 0.75"});
    CHECK(std::get<TrialClosed>(race.state().events.at(race.study).back()).cancelled);
    // What was measured of it last is its result.
    CHECK(race.state().trial_index.at(race.study).MeasuredAt(poor) == Step{10});
    const Claim& result = race.Plan().claims.at(race.state().trials.at(poor).claims.front());
    CHECK((result.state == ClaimState::kDone && result.point.step == Step{10}));
    CHECK(race.Plan().waiting.size() == 1);
    race.Restart();
    CHECK(race.IsReleased(poor));
  }
  SECTION("its best counts, not its last") {
    race.Reach(good, 10, 0.75);
    race.Reach(poor, 10, 0.6);
    race.Reach(poor, 20, 0.1);
    CHECK_FALSE(race.IsReleased(poor));
  }
  CHECK_FALSE(race.IsReleased(good));
}

TEST_CASE("what a trial had when it was ahead does not save it later, nor that the policy's memory is gone") {
  Race race(Watched());
  const TrialId first = race.Enter("0.1");
  const TrialId second = race.Enter("0.2");
  race.Reach(first, 10, 0.3);
  race.Reach(second, 10, 0.2);
  CHECK_FALSE(race.IsReleased(second));
  race.Reach(second, 20, 0.9);
  CHECK_FALSE(race.IsReleased(first));  // it is judged when it is measured
  if (GENERATE(false, true)) {
    race.Call(ChoosePolicy{"critical_path"});
    race.Handle(Tick{});
    race.Call(ChoosePolicy{"bandit"});
    race.Handle(Tick{});
  }
  race.Reach(first, 20, 0.3);
  CHECK(race.IsReleased(first));
  CHECK_FALSE(race.IsReleased(second));
}

TEST_CASE("early_term_last_value releases at every 30 steps whoever is behind the best, but not the one that has it") {
  Race race(Watched(), "early_term_last_value");
  const TrialId first = race.Enter("0.1");
  const TrialId second = race.Enter("0.2");
  race.Reach(first, 10, 0.9);
  race.Reach(second, 10, 0.1);
  CHECK_FALSE(race.IsReleased(second));
  race.Reach(first, 30, 0.5);  // it had the best
  race.AnswerQuestions();
  CHECK_FALSE(race.IsReleased(first));
  race.Reach(second, 30, 0.89);
  race.AnswerQuestions();
  CHECK(race.IsReleased(second));
  CHECK(race.LabelOf(second) == "released at step 30: its chance to reach 0.9 is 0.0");
}

TEST_CASE("who is asked about trains on until the answer is there, and is judged by what is known then") {
  Race race(Watched(), "early_term_last_value");
  const TrialId first = race.Enter("0.1");
  const TrialId second = race.Enter("0.2");
  race.Reach(first, 30, 0.9);
  race.Reach(second, 30, 0.7);
  CHECK_FALSE(race.IsReleased(second));
  CHECK(race.LabelOf(second) == "asked at step 30 whether it reaches 0.9");
  SECTION("it is no better") {
    race.Reach(second, 40, 0.8);
    race.AnswerQuestions();
    CHECK(race.IsReleased(second));
  }
  SECTION("it has the best now") {
    race.Reach(second, 40, 0.95);
    race.AnswerQuestions();
    CHECK_FALSE(race.IsReleased(second));
    CHECK(race.LabelOf(second) == "at step 30 its chance to reach 0.9 is 0.0");
  }
  SECTION("it does not go its way alone any more") {
    const TrialId third = race.Enter("Piecewise([0.2, 0.01], [50])");
    race.AnswerQuestions();
    CHECK_FALSE(race.IsReleased(second));
    CHECK_FALSE(race.IsReleased(third));
  }
  SECTION("it is not there any more") {
    race.Cancel(second);
    race.AnswerQuestions();
    CHECK(race.LabelOf(second) == "at step 30 its chance to reach 0.9 is 0.0");
  }
}

TEST_CASE("what was asked of a curve is asked again after a restart, just so") {
  Race race(Watched(), "early_term_last_value");
  const TrialId first = race.Enter("0.1");
  const TrialId second = race.Enter("0.2");
  race.Reach(first, 30, 0.1 + 0.2);
  race.Reach(second, 10, 0.3);
  race.Reach(second, 30, 0.3);
  REQUIRE(race.questions.size() == 1);
  race.Reach(first, 40, 0.9);
  const std::vector<CurveQuestion> asked = race.questions;
  race.Restart();
  race.Handle(Tick{});
  CHECK(race.questions == asked);
  race.AnswerQuestions();
  CHECK(race.IsReleased(second));
  race.Restart();
  race.Handle(Tick{});
  CHECK(race.questions.empty());
}

TEST_CASE("where less is better, a trial is released that has 1.5 times the best or more") {
  Race race(Watched(10, Goal::kMinimize));
  const TrialId good = race.Enter("0.1");
  const TrialId fair = race.Enter("0.2");
  const TrialId poor = race.Enter("0.3");
  race.Reach(good, 10, 2);
  race.Reach(fair, 10, 2.9);
  race.Reach(poor, 10, 3);
  CHECK_FALSE(race.IsReleased(good));
  CHECK_FALSE(race.IsReleased(fair));
  CHECK(race.IsReleased(poor));
}

TEST_CASE("a study that does not let policies stop its trials keeps them all, and so does one under another policy") {
  const bool may_stop = GENERATE(false, true);
  Race race(Watched(10, Goal::kMaximize, may_stop), may_stop ? "critical_path" : "bandit");
  const TrialId good = race.Enter("0.1");
  const TrialId poor = race.Enter("0.2");
  race.Reach(good, 10, 0.9);
  race.Reach(poor, 10, 0.1);
  CHECK_FALSE(race.IsReleased(poor));
}

TEST_CASE("a trial is judged at the first metric at or beyond each multiple of ten steps") {
  Race race(Watched(4));
  const TrialId good = race.Enter("0.1");
  const TrialId poor = race.Enter("0.2");
  race.Reach(good, 4, 0.9);
  for (const std::int64_t step : {4, 8}) race.Reach(poor, step, 0.1);
  CHECK_FALSE(race.IsReleased(poor));
  race.Reach(poor, 12, 0.1);
  CHECK(race.IsReleased(poor));
}

TEST_CASE("while a trial shares its way with others it is not released, and equal ones go together") {
  Race race(Watched());
  const TrialId good = race.Enter("0.1");
  const TrialId left = race.Enter("Piecewise([0.2, 0.01], [20])");
  const TrialId right = race.Enter("Piecewise([0.2, 0.02], [20])");
  const TrialId also_left = race.Enter("Piecewise([0.2, 0.01], [20])");
  race.Reach(good, 10, 0.9);
  race.Reach(left, 10, 0.1);
  race.Reach(left, 20, 0.1);
  for (const TrialId each : {left, right, also_left}) CHECK_FALSE(race.IsReleased(each));
  const StudyId patient = race.AddStudy({.name = "patient", .evaluate_every = 10});
  const TrialId others = race.Enter("Piecewise([0.2, 0.01], [20])", patient);
  race.Reach(left, 30, 0.1);
  CHECK(race.IsReleased(left) != race.IsReleased(right));  // the one whose branch is trained
  CHECK(race.IsReleased(left));
  CHECK(race.IsReleased(also_left));
  CHECK_FALSE(race.IsReleased(others));
  CHECK(race.LastClaim(others).state == ClaimState::kWaiting);  // what it needs is trained all the same
}

TEST_CASE("what others trained on a trial's way before it came counts for its study") {
  Race race(Watched());
  const StudyId other = race.AddStudy({.name = "other", .evaluate_every = 10});
  const TrialId before = race.Enter("0.1", other);
  race.Reach(before, 10, 0.9);
  const TrialId poor = race.Enter("0.2");
  race.Reach(poor, 10, 0.1);
  CHECK_FALSE(race.IsReleased(poor));  // it is the best of its study
  race.Enter("0.1");
  race.Reach(poor, 20, 0.1);
  CHECK(race.IsReleased(poor));
}

TEST_CASE("the released trial's run ends where nobody needs it any more") {
  Race race(Watched());
  const TrialId good = race.Enter("0.1");
  const TrialId poor = race.Enter("0.2");
  const Run run = race.Last();
  race.Reach(good, 10, 0.9);
  race.Train(run, Step{10});
  race.Reach(poor, 10, 0.1);
  REQUIRE(race.IsReleased(poor));
  CHECK(race.RunOf(run.id).generation > run.generation);
  CHECK(std::ranges::none_of(race.RunOf(run.id).promises, [](const auto& entry) {
    return entry.second.state == PromiseState::kOpen && entry.second.step > Step{11};
  }));
}

TEST_CASE("a policy whose memory is lost before every event decides the same as one that keeps it") {
  const std::uint64_t seed = RandomSeed("laggards_test");
  INFO("seed " << seed);
  int released = 0;
  for (std::uint64_t each = seed; each < seed + 12; ++each) {
    std::mt19937_64 random(each);
    const auto below = [&](std::uint64_t count) { return static_cast<std::int64_t>(random() % count); };
    const std::string policy = below(2) == 0 ? "bandit" : "early_term_last_value";
    const Goal goal = below(2) == 0 ? Goal::kMaximize : Goal::kMinimize;
    std::vector<std::pair<std::int64_t, std::string>> trials;
    for (int i = 0; i < 12; ++i) {
      const auto rate = [&] { return "0." + std::to_string(1 + below(3)); };
      trials.emplace_back(below(2),
                          "Piecewise([" + rate() + ", " + rate() + "], [" + std::to_string(5 + 10 * below(3)) + "])");
    }
    const auto all =
        CheckSameWithoutMemory({.slots = 3, .policy = policy, .seed = each}, [&](SimulatedService& service) {
          const StudyId studies[] = {
              service.AddStudy(Watched(5, goal)),
              service.AddStudy({.name = "other", .evaluate_every = 7, .goal = goal, .policy = {.may_stop = true}})};
          for (const auto& [study, lr] : trials) {
            service.Submit(studies[study], {{"lr", lr}}, 60);
            service.RunFor(Seconds(1));
          }
        });
    for (const auto& [id, trial] : all->state().trials) released += trial.label.has_value() ? 1 : 0;
  }
  CHECK(released > 10);
}

}  // namespace espalier::master
