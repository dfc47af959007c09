// Tuners that stop what is worse than others were, while it goes on.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "client/tuners/registry.h"
#include "tests/unit/tuners/play.h"

namespace espalier::tuners {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

std::unique_ptr<Tuner> Asha(std::int64_t max, std::vector<Candidate> candidates, std::int64_t open_trials = 100) {
  return MakeTuner("asha",
                   {{"min", std::int64_t{1}},
                    {"max", max},
                    {"reduction", std::int64_t{3}},
                    {"open_trials", open_trials},
                    {"stopping", true}},
                   {std::move(candidates)})
      .value();
}

std::unique_ptr<Tuner> Median(std::size_t count, Options more = {}) {
  more.merge(Options{{"steps", std::int64_t{30}}, {"every", std::int64_t{10}}, {"open_trials", std::int64_t{100}}});
  return MakeTuner("median", more, {Candidates(count)}).value();
}

bool Stopped(const std::vector<Action>& actions) {
  return std::any_of(actions.begin(), actions.end(),
                     [](const Action& action) { return std::holds_alternative<CancelTrial>(action); });
}

// One letter a report: C goes on, S stops.
std::string Fates(Tuner& tuner, Step at, const std::vector<double>& values) {
  std::string fates;
  for (std::size_t trial = 0; trial < values.size(); ++trial) {
    fates += Stopped(tuner.OnEvent(ClaimOutcome{trial, at, Measured{values[trial]}})) ? 'S' : 'C';
  }
  return fates;
}

}  // namespace

TEST_CASE("asha by stopping lets a trial go on whose rank among those before it is good enough") {
  const auto tuner = Asha(9, Candidates(12));
  tuner->Start();
  CHECK(Fates(*tuner, Step{1}, {.50, .40, .60, .45, .30, .55, .35, .20, .50, .25, .28, .65}) == "CCSSCSCCSCCS");
}

TEST_CASE("asha by stopping compares at each rung with those that reached it") {
  const auto better = Asha(9, Candidates(2));
  better->Start();
  CHECK(Fates(*better, Step{1}, {.5, .4}) == "CC");
  const auto worse = Asha(9, Candidates(2));
  worse->Start();
  CHECK(Fates(*worse, Step{1}, {.5, .6}) == "CS");
}

TEST_CASE("a tie goes on") {
  const auto tuner = Asha(9, Candidates(3));
  tuner->Start();
  CHECK(Fates(*tuner, Step{1}, {.5, .5, .5}) == "CCC");
}

TEST_CASE("a stopping tuner claims all rungs at once, and a candidate's own horizon ends it") {
  std::vector<Candidate> candidates = Candidates(2);
  candidates[1].steps = Step{5};
  const auto tuner = Asha(9, candidates);
  const std::vector<Action> started = tuner->Start();
  REQUIRE(started.size() == 2);
  CHECK(started[0] == Action{StartTrial{{{"lr", "0.5"}}, Step{1}, Step{9}, {Step{3}, Step{9}}}});
  CHECK(started[1] == Action{StartTrial{{{"lr", "1.5"}}, Step{1}, Step{5}, {Step{3}, Step{5}}}});
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{1}, Measured{.1}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{3}, Measured{.1}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{5}, Measured{.1}}) == std::vector<Action>{CloseTrial{1}});
}

TEST_CASE("one event may pass several rungs: a trial is looked at in the order of its steps") {
  const auto tuner = Asha(9, Candidates(2));
  tuner->Start();
  CHECK(Fates(*tuner, Step{1}, {.5}) == "C");
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{9}, Measured{.1}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{3}, Measured{.1}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{1}, Measured{.1}}) == std::vector<Action>{CloseTrial{1}});
}

TEST_CASE("what failed or was cancelled counts at a rung, behind all else, and ends") {
  const auto tuner = Asha(9, Candidates(5), 2);
  REQUIRE(tuner->Start().size() == 2);
  std::vector<Action> actions = tuner->OnEvent(ClaimOutcome{0, Step{1}, Failed{}});
  REQUIRE(actions.size() == 2);
  CHECK(actions[0] == Action{CancelTrial{0}});
  CHECK(std::holds_alternative<StartTrial>(actions[1]));
  CHECK(tuner->OnEvent(ClaimOutcome{0, Step{3}, Failed{}}).empty());
  CHECK(std::holds_alternative<StartTrial>(tuner->OnEvent(ClaimOutcome{1, Step{1}, Cancelled{}}).at(0)));
  CHECK(tuner->OnEvent(ClaimOutcome{2, Step{1}, Measured{kNoNumber}}).empty());  // the best of three
  CHECK(Stopped(tuner->OnEvent(ClaimOutcome{2, Step{3}, Failed{}})));
}

TEST_CASE("idle slots ask a stopping tuner for its trials, one at a time, until all have ended") {
  const auto tuner =
      MakeTuner(
          "asha",
          {{"min", std::int64_t{1}}, {"max", std::int64_t{3}}, {"reduction", std::int64_t{3}}, {"stopping", true}},
          {Candidates(7)})
          .value();
  REQUIRE(tuner->AsksForIdleSlots());
  CHECK(tuner->Start().empty());
  const Played played = Play(*tuner, [](std::size_t trial, Step) { return Measured{static_cast<double>(trial)}; });
  CHECK(played.started == 7);
  CHECK(played.reached.at(Step{3}) == std::vector<std::size_t>{0});
  CHECK(played.finished);
}

TEST_CASE("median stopping stops what is strictly worse at its best than the median of the others' means") {
  const auto tuner = Median(4, {{"min_trials", std::int64_t{3}}});
  tuner->Start();
  CHECK(Fates(*tuner, Step{10}, {.1, .2, .3}) == "CCC");  // too few before them
  SECTION("worse") { CHECK(Stopped(tuner->OnEvent(ClaimOutcome{3, Step{10}, Measured{.21}}))); }
  SECTION("as good") { CHECK_FALSE(Stopped(tuner->OnEvent(ClaimOutcome{3, Step{10}, Measured{.2}}))); }
  SECTION("its best counts, and the others' means") {
    CHECK_FALSE(Stopped(tuner->OnEvent(ClaimOutcome{3, Step{10}, Measured{.15}})));
    CHECK(Fates(*tuner, Step{20}, {.3, .2, .1}) == "CCC");  // means .2 each
    CHECK_FALSE(Stopped(tuner->OnEvent(ClaimOutcome{3, Step{20}, Measured{.9}})));
  }
  SECTION("not a number is worse than any") {
    CHECK(Stopped(tuner->OnEvent(ClaimOutcome{3, Step{10}, Measured{kNoNumber}})));
  }
}

TEST_CASE("median stopping takes the mean of the two in the middle, and stops nothing before its grace is over") {
  const auto tuner = Median(3, {{"min_trials", std::int64_t{2}}, {"grace", std::int64_t{20}}});
  tuner->Start();
  CHECK(Fates(*tuner, Step{10}, {.1, .3, .9}) == "CCC");
  CHECK_FALSE(Stopped(tuner->OnEvent(ClaimOutcome{0, Step{20}, Measured{.1}})));
  CHECK_FALSE(Stopped(tuner->OnEvent(ClaimOutcome{1, Step{20}, Measured{.3}})));
  SECTION("worse than .2") { CHECK(Stopped(tuner->OnEvent(ClaimOutcome{2, Step{20}, Measured{.21}}))); }
  SECTION("as good") { CHECK_FALSE(Stopped(tuner->OnEvent(ClaimOutcome{2, Step{20}, Measured{.2}}))); }
}

TEST_CASE("median stopping looks every so many steps and at the end, not more often than a trial may be claimed") {
  const auto tuner = Median(1, {{"every", std::int64_t{20}}});
  const std::vector<Action> started = tuner->Start();
  REQUIRE(started.size() == 1);
  CHECK(started[0] == Action{StartTrial{{{"lr", "0.5"}}, Step{20}, Step{30}, {Step{30}}}});
  const auto refused =
      MakeTuner("median", {{"steps", std::int64_t{2000}}, {"every", std::int64_t{1}}}, {Candidates(1)});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().field == "every");
}

}  // namespace espalier::tuners
