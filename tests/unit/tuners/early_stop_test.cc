// Early stop by milestones: TreeML's figure 5.3.
#include <catch2/catch.hpp>

#include "client/tuners/registry.h"
#include "tests/unit/tuners/play.h"

namespace espalier::tuners {
namespace {

Result<std::unique_ptr<Tuner>> EarlyStop(const Counts& milestones, std::size_t trials) {
  return MakeTuner("early_stop", {{"milestones", milestones}}, {Candidates(trials)});
}

}  // namespace

TEST_CASE("eight trials are trained for 5 steps, and the best four of them to 10") {
  const auto tuner = EarlyStop({{5, 8}, {10, 4}}, 8).value();
  const Played played = Play(*tuner, [](std::size_t trial, Step) { return Measured{trial % 2 == 0 ? 1. : 0.}; });
  CHECK(played.reached.at(Step{5}).size() == 8);
  CHECK(played.reached.at(Step{10}) == std::vector<std::size_t>{1, 3, 5, 7});
  CHECK(played.finished);
  const std::vector<StartTrial> whole = EarlyStop({{5, 8}, {10, 4}}, 8).value()->WholeTrials();
  CHECK(whole.size() == 8);
  CHECK(whole.front().horizon == Step{10});
}

TEST_CASE("of trials that failed none goes on, however many should") {
  const auto tuner = EarlyStop({{5, 8}, {10, 4}, {20, 2}}, 6).value();
  const Played played = Play(*tuner, [](std::size_t trial, Step) {
    return trial < 3 ? Outcome(Failed{}) : Outcome(Measured{static_cast<double>(trial)});
  });
  CHECK(played.reached.at(Step{10}) == std::vector<std::size_t>{3, 4, 5});
  CHECK(played.reached.at(Step{20}) == std::vector<std::size_t>{3, 4});
}

TEST_CASE("milestones that leave a trial out, or that grow, are refused") {
  const auto message = [](const Counts& milestones, std::size_t trials) {
    const auto tuner = EarlyStop(milestones, trials);
    REQUIRE_FALSE(tuner.has_value());
    CHECK(tuner.error().field == "milestones");
    return tuner.error().message;
  };
  CHECK(message({{5, 8}, {10, 4}}, 9) == "got 8 trials at the first; expected all 9");
  CHECK(message({{5, 8}, {10, 9}}, 8) == "got 10: 9; expected no more trials than at the milestone before");
  CHECK(message({{5, 8}, {10, 0}}, 8) == "got 10: 0; expected at least one trial");
  CHECK(message({{0, 8}}, 8) == "got 0: 8; expected a step from 1 to 2^53");
  CHECK(message({}, 8) == "expected steps and how many trials are trained up to there, such as {5: 8, 10: 4}");
  CHECK_THAT(MakeTuner("early_stop", {}, {Candidates(1)}).error().message, Catch::StartsWith("is missing; expected"));
  CHECK(MakeTuner("sha", {{"min", Counts{}}, {"max", std::int64_t{4}}, {"reduction", std::int64_t{2}}}, {Candidates(1)})
            .error()
            .message == "got a mapping; expected a whole number of at least 1");
}

}  // namespace espalier::tuners
