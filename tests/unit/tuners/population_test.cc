// Population-based training: who copies whom, from where, and what it changes.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "client/space/ranges.h"
#include "client/space/sampling.h"
#include "client/tuners/registry.h"
#include "searchplan/sequence/sequence.h"
#include "tests/unit/tuners/play.h"

namespace espalier::tuners {
namespace {

const SearchSpace kTrainings{.lists = {{"lr", {"loguniform(1e-3, 1)"}}, {"bs", {"32", "64", "128"}}},
                             .fixed = {{"momentum", "Exponential(0.9, 0.99)"}}};

Trials Members(const SearchSpace& space, std::size_t count, std::int64_t seed = 0) {
  const Sampling sampling{.trials = count, .seed = seed};
  Trials trials{.from_space = count, .space = space, .sampling = sampling};
  for (const TrialText& text : Sample(space, sampling)) trials.candidates.push_back({text, std::nullopt});
  return trials;
}

Options Pbt(std::int64_t steps, std::int64_t interval) { return {{"steps", steps}, {"interval", interval}}; }

// Five members at step 10, `last` the last; lower is better, so the scores of the vector are negated.
std::vector<Action> AfterFive(Tuner& tuner, std::size_t last) {
  const double scores[] = {0, 50, 100, 150, 200};
  tuner.Start();
  for (std::size_t trial = 0; trial < 5; ++trial) {  // each better than those before: none copies
    if (trial != last) tuner.OnEvent(ClaimOutcome{trial, Step{10}, Measured{-scores[trial]}});
  }
  return tuner.OnEvent(ClaimOutcome{last, Step{10}, Measured{-scores[last]}});
}

std::string Started(const std::vector<Action>& actions, const std::string& name) {
  for (const Action& action : actions) {
    if (const auto* start = std::get_if<StartTrial>(&action)) return start->sequences.at(name);
  }
  return "";
}

}  // namespace

TEST_CASE("of five members with a quantile of a quarter the two worst copy one of the two best") {
  const Trials members = Members(kTrainings, 5);
  std::set<std::size_t> donors;
  for (std::int64_t seed = 0; seed < 12; ++seed) {
    Trials seeded = members;
    seeded.sampling->seed = seed;
    for (const std::size_t last : {0, 1, 2, 3, 4}) {
      const auto tuner = MakeTuner("pbt", Pbt(30, 10), seeded).value();
      const std::vector<Action> actions = AfterFive(*tuner, last);
      if (last >= 2) {
        CHECK(actions == std::vector<Action>{ContinueTrial{last, Step{20}}});
        continue;
      }
      REQUIRE(actions.size() == 2);
      CHECK(actions[0] == Action(CloseTrial{last}));
      const auto& copy = std::get<StartTrial>(actions[1]);
      CHECK(copy.steps == Step{20});
      CHECK(copy.horizon == Step{30});
      CHECK(copy.sequences.at("momentum") == "Exponential(0.9, 0.99)");
      for (const std::size_t donor : {3, 4}) {
        const std::string own = members.candidates[donor].sequences.at("lr");
        if (copy.sequences.at("lr").starts_with("Piecewise([" + own + ", ")) donors.insert(donor);
      }
    }
  }
  CHECK(donors == std::set<std::size_t>{3, 4});
}

TEST_CASE("a copy has its donor's values up to where it parts, then a number times 0.8 or 1.2, within its bounds") {
  Options options = Pbt(30, 10);
  options["resample"] = 0.0;
  std::set<double> factors;
  for (std::int64_t seed = 0; seed < 20; ++seed) {
    Trials members = Members(kTrainings, 5);
    members.sampling->seed = seed;
    const std::vector<Action> actions = AfterFive(*MakeTuner("pbt", options, members).value(), 0);
    const HyperParameter lr{"lr", ValueType::kFloating, 0.1};
    const auto sequence = CompileFor(lr, ParseExpression(Started(actions, "lr")).value(), Step{30}).value();
    const double before = std::get<double>(At(sequence, Step{9}));
    const double after = std::get<double>(At(sequence, Step{10}));
    CHECK(after <= 1);
    if (before * 1.2 <= 1) factors.insert(std::round(after / before * 1000) / 1000);
    const std::string bs = Started(actions, "bs");
    CHECK((bs == "32" || bs == "64" || bs == "128"));  // categories are never multiplied
  }
  CHECK(factors == std::set<double>{0.8, 1.2});
}

TEST_CASE("values are drawn anew with the chance that is asked for") {
  Options options = Pbt(30, 10);
  options["resample"] = 1.0;
  std::set<std::string> sizes;
  for (std::int64_t seed = 0; seed < 20; ++seed) {
    Trials members = Members(kTrainings, 5);
    members.sampling->seed = seed;
    sizes.insert(Started(AfterFive(*MakeTuner("pbt", options, members).value(), 0), "bs"));
  }
  CHECK(sizes.size() >= 3);
}

TEST_CASE("a whole number is rounded away from what it was, and stays within its bounds") {
  const Expression range = ParseExpression("integer(2, 10)").value();
  CHECK(Scaled(range, std::int64_t{3}, 1.2) == Value(std::int64_t{4}));
  CHECK(Scaled(range, std::int64_t{3}, 0.8) == Value(std::int64_t{2}));
  CHECK(Scaled(range, std::int64_t{2}, 0.8) == Value(std::int64_t{2}));
  CHECK(Scaled(range, std::int64_t{10}, 1.2) == Value(std::int64_t{10}));
}

TEST_CASE("a member that copies one at its end goes on from that one's look before") {
  const SearchSpace space{.lists = {{"lr", {"uniform(0, 1)"}}}, .fixed = {}};
  const auto tuner = MakeTuner("pbt", Pbt(25, 10), Members(space, 3)).value();
  tuner->Start();
  for (const std::int64_t steps : {10, 20, 25}) {
    for (const std::size_t trial : {1, 2}) {
      tuner->OnEvent(ClaimOutcome{trial, Step{steps}, Measured{static_cast<double>(trial)}});
    }
  }
  const std::vector<Action> actions = tuner->OnEvent(ClaimOutcome{0, Step{10}, Measured{9}});
  REQUIRE(actions.size() == 2);
  CHECK(std::get<StartTrial>(actions[1]).steps == Step{25});
  CHECK(Started(actions, "lr").find("[20]") != std::string::npos);
}

TEST_CASE("a member that failed copies another, and ends where there is nobody to copy") {
  const SearchSpace space{.lists = {{"lr", {"uniform(0, 1)"}}}, .fixed = {}};
  const auto tuner = MakeTuner("pbt", Pbt(20, 10), Members(space, 3)).value();
  tuner->Start();
  CHECK(tuner->OnEvent(ClaimOutcome{0, Step{10}, Failed{}}) == std::vector<Action>{CloseTrial{0}});
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{10}, Measured{1}}) == std::vector<Action>{ContinueTrial{1, Step{20}}});
  const std::vector<Action> actions = tuner->OnEvent(ClaimOutcome{2, Step{10}, Failed{}});
  REQUIRE(actions.size() == 2);
  CHECK(std::get<StartTrial>(actions[1]).steps == Step{20});
}

TEST_CASE(
    "a population trains to its end, in the same way for the same results, and shares what copies have in common") {
  const auto played = [] {
    const auto tuner = MakeTuner("pbt", Pbt(50, 10), Members(kTrainings, 8)).value();
    CHECK_FALSE(tuner->KnowsItsTrials());
    CHECK(tuner->WholeTrials().size() == 8);
    std::vector<std::string> texts;
    const Played all = Play(*tuner, [](std::size_t trial, Step steps) {
      return Measured{std::sin(static_cast<double>(trial * 7 + static_cast<std::size_t>(steps.value)))};
    });
    CHECK(all.finished);
    CHECK(all.started > 8);
    CHECK(all.reached.at(Step{50}).size() == 8);
    return all.reached;
  };
  CHECK(played() == played());
}

TEST_CASE("what a population cannot change on the way is refused, with its field") {
  const auto refused = [](const SearchSpace& space, const Options& options = Pbt(20, 10)) {
    const auto tuner = MakeTuner("pbt", options, Members(space, 4));
    REQUIRE_FALSE(tuner.has_value());
    return tuner.error().field + ": " + tuner.error().message;
  };
  const SearchSpace sequences{.lists = {{"lr", {"Exponential(uniform(0.1, 1), 0.9)"}}}, .fixed = {}};
  CHECK_THAT(refused(sequences),
             Catch::StartsWith("hyper_parameters.lr: got Exponential(uniform(0.1, 1), 0.9); expected"));
  SearchSpace conditions = kTrainings;
  conditions.conditions.push_back(ParseCondition("lr", "bs == 32").value());
  CHECK_THAT(refused(conditions), Catch::StartsWith("only_if.lr: got a condition"));
  Options options = Pbt(20, 10);
  options["quantile"] = 1.5;
  CHECK(refused(kTrainings, options) == "quantile: got 1.5; expected a number from 0 to 1");
  Trials own = Members(kTrainings, 4);
  own.candidates.push_back({{{"lr", "0.1"}, {"bs", "32"}}, std::nullopt});
  CHECK(MakeTuner("pbt", Pbt(20, 10), own).error().field == "trials[0]");
}

TEST_CASE("a choice of values is a category: it stays its donor's, unless it is drawn anew") {
  const SearchSpace space{.lists = {{"bs", {"choice(32, 64)"}}}, .fixed = {}};
  Options options = Pbt(30, 10);
  options["resample"] = 0.0;
  for (std::int64_t seed = 0; seed < 10; ++seed) {
    Trials members = Members(space, 5);
    members.sampling->seed = seed;
    const std::string bs = Started(AfterFive(*MakeTuner("pbt", options, members).value(), 0), "bs");
    CHECK((bs == members.candidates[3].sequences.at("bs") || bs == members.candidates[4].sequences.at("bs")));
  }
}

}  // namespace espalier::tuners
