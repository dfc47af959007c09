// Drawing trials by what was measured: what is learned, from whom, and what a tuner makes of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "client/space/sampling.h"
#include "client/tuners/registry.h"
#include "client/tuners/tpe_sampler.h"
#include "tests/unit/tuners/play.h"

namespace espalier::tuners {
namespace {

const SearchSpace kPlane{.lists = {{"x", {"uniform(-5, 10)"}}, {"y", {"uniform(0, 15)"}}}, .fixed = {}};
const SearchSpace kLine{.lists = {{"x", {"uniform(0, 1)"}}}, .fixed = {}};

double Coordinate(const TrialText& trial, const std::string& name) { return std::stod(trial.at(name)); }

double BraninAt(const TrialText& trial) {
  const double x = Coordinate(trial, "x");
  const double pi = std::numbers::pi;
  const double bent = Coordinate(trial, "y") - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return bent * bent + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10 - 0.397887;
}

Trials TrialsIn(const SearchSpace& space, std::size_t count, std::int64_t seed = 0) {
  const Sampling sampling{.trials = count, .seed = seed, .method = SamplingMethod::kTpe};
  Trials trials{.from_space = count, .space = space, .sampling = sampling};
  for (const TrialText& text : Sample(space, sampling)) trials.candidates.push_back({text, std::nullopt});
  return trials;
}

// So many trials, each measured before the next is drawn.
std::vector<TrialText> DrawAndLearn(Sampler& sampler, std::size_t count,
                                    const std::function<Outcome(const TrialText&)>& outcome_of, Step at = Step{1}) {
  std::vector<TrialText> drawn;
  for (std::size_t trial = 0; trial < count; ++trial) {
    drawn.push_back(sampler.Draw());
    sampler.Learn({trial, at, outcome_of(drawn.back())});
  }
  return drawn;
}

double MedianOfBest(std::size_t trials, bool learned) {
  std::vector<double> bests;
  for (std::int64_t seed = 0; seed < 11; ++seed) {
    TpeSampler sampler(kPlane, seed);
    double best = std::numeric_limits<double>::infinity();
    DrawAndLearn(sampler, trials, [&](const TrialText& trial) -> Outcome {
      best = std::min(best, BraninAt(trial));
      if (!learned) return Cancelled{};
      return Measured{BraninAt(trial)};
    });
    bests.push_back(best);
  }
  std::ranges::sort(bests);
  return bests[bests.size() / 2];
}

}  // namespace

TEST_CASE("what was measured leads to better trials than chance") {
  CHECK(MedianOfBest(100, true) < MedianOfBest(100, false) / 8);
}

TEST_CASE("until ten results are there, trials are those of random sampling") {
  TpeSampler sampler(kPlane, 3);
  const std::vector<TrialText> drawn =
      DrawAndLearn(sampler, 30, [](const TrialText& trial) { return Measured{BraninAt(trial)}; });
  const std::vector<TrialText> random = Sample(kPlane, {.trials = 30, .seed = 3});
  CHECK(std::equal(drawn.begin(), drawn.begin() + 10, random.begin()));
  CHECK_FALSE(std::equal(drawn.begin() + 10, drawn.end(), random.begin() + 10));
}

TEST_CASE("the same results in the same order give the same trials, another seed gives others") {
  const auto drawn = [](std::int64_t seed) {
    TpeSampler sampler(kPlane, seed);
    return DrawAndLearn(sampler, 40, [](const TrialText& trial) { return Measured{BraninAt(trial)}; });
  };
  CHECK(drawn(1) == drawn(1));
  CHECK(drawn(1) != drawn(2));
}

TEST_CASE("results at more steps count, once there are enough of them") {
  for (const std::size_t deep_count : {std::size_t{9}, std::size_t{12}}) {
    TpeSampler sampler(kLine, 0);
    std::vector<TrialText> drawn = DrawAndLearn(
        sampler, 30, [](const TrialText& trial) { return Measured{Coordinate(trial, "x")}; });  // low is good
    for (std::size_t trial = 0; trial < deep_count; ++trial) {
      sampler.Learn({trial, Step{10}, Measured{-Coordinate(drawn[trial], "x")}});  // high is good
    }
    int high = 0;
    for (int i = 0; i < 20; ++i) high += Coordinate(sampler.Draw(), "x") > 0.5 ? 1 : 0;
    CHECK(high == Approx(deep_count >= 10 ? 18 : 2).margin(2.5));
  }
}

TEST_CASE("what was not taken far is good for nothing, and bad where it was worse than what was") {
  TpeSampler sampler(kLine, 0);
  std::vector<TrialText> drawn;
  for (int i = 0; i < 1000; ++i) drawn.push_back(sampler.Draw());
  std::size_t deep_count = 0;
  for (std::size_t trial = 0; trial < drawn.size(); ++trial) {
    const double x = Coordinate(drawn[trial], "x");
    const double off = std::abs(x - 0.5);
    sampler.Learn({trial, Step{1}, Measured{std::fmod(97 * x, 1)}});
    if (off < 0.1 && ++deep_count <= 12) sampler.Learn({trial, Step{10}, Measured{off}});
  }
  REQUIRE(deep_count >= 12);
  int near = 0;
  for (int i = 0; i < 20; ++i) near += std::abs(Coordinate(sampler.Draw(), "x") - 0.5) < 0.12 ? 1 : 0;
  CHECK(near >= 17);
}

TEST_CASE("what failed or is no number ranks last, what was cancelled teaches nothing") {
  const std::vector<Outcome> last = {Failed{}, Measured{std::numeric_limits<double>::quiet_NaN()}};
  for (const Outcome& outcome : last) {
    TpeSampler sampler(kLine, 0);
    const auto outcome_of = [&](const TrialText& trial) {
      return Coordinate(trial, "x") < 0.5 ? outcome : Outcome(Measured{1e9});
    };
    const std::vector<TrialText> drawn = DrawAndLearn(sampler, 60, outcome_of);
    CHECK(std::count_if(drawn.begin() + 20, drawn.end(),
                        [](const TrialText& trial) { return Coordinate(trial, "x") < 0.5; }) < 8);
  }
  TpeSampler sampler(kLine, 0);
  const std::vector<TrialText> drawn = DrawAndLearn(sampler, 30, [](const TrialText&) { return Cancelled{}; });
  CHECK(drawn == Sample(kLine, {.trials = 30, .seed = 0}));
}

TEST_CASE("of choices the better ones come more often, within each other too") {
  const SearchSpace space{.lists = {{"x", {"1", "2", "choice(3, uniform(4, 5))", "6"}}}, .fixed = {}};
  TpeSampler sampler(space, 0);
  const std::vector<TrialText> drawn = DrawAndLearn(sampler, 80, [](const TrialText& trial) {
    return Measured{Coordinate(trial, "x") > 3.5 && Coordinate(trial, "x") < 5.5 ? 0. : 1.};
  });
  const auto good = std::count_if(drawn.begin() + 40, drawn.end(), [](const TrialText& trial) {
    return Coordinate(trial, "x") > 3.5 && Coordinate(trial, "x") < 5.5;
  });
  CHECK(good > 25);  // at random: 5
}

TEST_CASE("a tuner's trials are drawn as it starts them, the user's own are as they were written") {
  Trials trials = TrialsIn(kLine, 30);
  trials.candidates.push_back({{{"x", "0.25"}}, std::nullopt});
  const Options options{{"min", std::int64_t{1}}, {"max", std::int64_t{4}}, {"reduction", std::int64_t{2}}};
  const auto tuner = MakeTuner("asha", options, trials).value();
  CHECK_FALSE(tuner->KnowsItsTrials());
  CHECK(tuner->WholeTrials().size() == 31);
  CHECK(tuner->AsksForIdleSlots());
  std::vector<double> drawn;
  const auto take = [&](const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartTrial>(&action)) drawn.push_back(Coordinate(start->sequences, "x"));
    }
  };
  take(tuner->Start());
  for (int i = 0; i < 200; ++i) {
    const std::vector<Action> actions = tuner->OnEvent(SlotIdle{});
    take(actions);
    for (const Action& action : actions) {
      const auto* start = std::get_if<StartTrial>(&action);
      const auto* more = std::get_if<ContinueTrial>(&action);
      if (start == nullptr && more == nullptr) continue;
      const std::size_t trial = start != nullptr ? drawn.size() - 1 : more->trial;
      take(tuner->OnEvent(ClaimOutcome{trial, start != nullptr ? start->steps : more->steps, Measured{drawn[trial]}}));
    }
  }
  REQUIRE(drawn.size() == 31);
  CHECK(drawn.back() == 0.25);
  CHECK(std::count_if(drawn.begin() + 10, drawn.end() - 1, [](double x) { return x < 0.15; }) > 8);
}

TEST_CASE("hyperband that learns starts a bracket when nothing is left to do for those before it") {
  const Options options{{"max", std::int64_t{4}}, {"reduction", std::int64_t{2}}};
  const auto tuner = MakeTuner("hyperband", options, TrialsIn(kLine, 12)).value();
  CHECK(tuner->AsksForIdleSlots());
  CHECK(tuner->Start().size() == 4);
  CHECK(tuner->OnEvent(SlotIdle{}).size() == 3);
  CHECK(tuner->OnEvent(SlotIdle{}).size() == 3);
  CHECK(tuner->OnEvent(SlotIdle{}).size() == 2);  // what is left fills a bracket in part
  CHECK(tuner->OnEvent(SlotIdle{}).empty());
  const auto whole = MakeTuner("hyperband", options, TrialsIn(kLine, 12)).value();
  const Played played = Play(*whole, [](std::size_t trial, Step) { return Measured{static_cast<double>(trial)}; });
  CHECK(played.started == 12);
  CHECK(played.finished);
}

TEST_CASE("tpe alone takes every trial to its end, with so many at once") {
  const auto tuner =
      MakeTuner("tpe", {{"steps", std::int64_t{8}}, {"open_trials", std::int64_t{3}}}, TrialsIn(kLine, 20)).value();
  CHECK(tuner->Start().size() == 3);
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{8}, Measured{0.5}}).size() == 2);  // closes it, starts one
  const auto played = Play(*MakeTuner("tpe", {{"steps", std::int64_t{8}}}, TrialsIn(kLine, 20)).value(),
                           [](std::size_t, Step) { return Failed{}; });
  CHECK(played.reached.at(Step{8}).size() == 20);
  CHECK(played.finished);
}

TEST_CASE("a tuner that starts its trials at once learns nothing, and says so") {
  const Options options{{"min", std::int64_t{1}}, {"max", std::int64_t{4}}, {"reduction", std::int64_t{2}}};
  const auto refused = MakeTuner("sha", options, TrialsIn(kLine, 12));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().field == "sampling");
  CHECK(
      refused.error().message ==
      "got tpe, but sha starts its trials at once, when nothing is known yet; expected random or sobol, or one of the "
      "tuners asha, hyperband, median, tpe");
}

}  // namespace espalier::tuners
