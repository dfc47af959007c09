#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "client/tuners/marginal_steps.h"
#include "client/tuners/registry.h"
#include "searchplan/sequence/configuration.h"
#include "tests/support/random_seed.h"
#include "tests/unit/tuners/play.h"

namespace espalier::tuners {
namespace {

StartTrial Whole(TrialText sequences, std::int64_t steps) { return {std::move(sequences), Step{steps}, Step{steps}}; }

StartTrial Rate(const std::string& text, std::int64_t steps = 20) { return Whole({{"lr", text}}, steps); }

std::unique_ptr<Tuner> MergeAware(std::vector<Candidate> candidates, Options more = {}) {
  Options options{{"min", std::int64_t{10}}, {"max", std::int64_t{20}}, {"reduction", std::int64_t{2}}};
  options.merge(more);
  options["merge_aware"] = true;
  return MakeTuner("asha", options, {.candidates = std::move(candidates)}).value();
}

std::string StartedBy(const std::vector<Action>& actions) {
  std::string started;
  for (const Action& action : actions) {
    if (const auto* start = std::get_if<StartTrial>(&action)) started += start->sequences.at("lr") + "\n";
  }
  return started;
}

// Which steps of it no other trial has asked for, one by one.
std::int64_t OneByOne(const std::vector<StartTrial>& trials, const std::vector<Step>& asked, std::size_t trial,
                      Step steps) {
  const Schema schema{
      {{"bs", ValueType::kFloating, Value{1.0}, false}, {"lr", ValueType::kFloating, Value{0.5}, false}}};
  const auto segments = [&](std::size_t each) {
    std::map<std::string, Expression> sequences;
    for (const auto& [name, text] : trials[each].sequences) sequences.emplace(name, ParseExpression(text).value());
    return ResolveTrial(schema, sequences, trials[each].horizon).value();
  };
  const auto at = [](const std::vector<JointSegment>& of, std::int64_t step) {
    return std::find_if(of.rbegin(), of.rend(),
                        [&](const JointSegment& segment) { return segment.start.value <= step; })
        ->configuration;
  };
  std::int64_t covered = 0;
  for (std::size_t other = 0; other < trials.size(); ++other) {
    std::int64_t alike = 0;
    const auto a = segments(trial);
    const auto b = segments(other);
    while (alike < std::min(steps, asked[other]).value && at(a, alike) == at(b, alike)) ++alike;
    covered = std::max(covered, alike);
  }
  return steps.value - covered;
}

}  // namespace

TEST_CASE("what a trial adds is what it has in common with none that was asked for") {
  MarginalSteps marginal(
      {Rate("0.1"), Rate("MultiStep(0.1, [15], gamma=0.1)"), Rate("Piecewise([0.1, 0.2], [5])"), Rate("0.3")});
  CHECK(marginal.Of(0, Step{10}) == 10);
  CHECK(marginal.Ask(0, Step{10}) == std::vector<std::size_t>{0, 1, 2});
  CHECK(marginal.Of(0, Step{10}) == 0);
  CHECK(marginal.Of(0, Step{20}) == 10);
  CHECK(marginal.Of(1, Step{20}) == 10);
  CHECK(marginal.Of(2, Step{10}) == 5);
  CHECK(marginal.Of(3, Step{10}) == 10);
}

TEST_CASE("marginal steps are those that comparing step by step finds") {
  const std::uint64_t seed = RandomSeed("marginal steps");
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<std::uint64_t>(bound)); };
  for (int round = 0; round < 30; ++round) {
    std::vector<StartTrial> trials;
    for (int i = 0; i < 12; ++i) {
      const std::string first = "0." + std::to_string(1 + below(2));
      const std::string later = "0." + std::to_string(1 + below(3));
      const int milestone = 1 + below(8);
      TrialText text{{"lr", "Piecewise([" + first + ", " + later + "], [" + std::to_string(milestone) + "])"}};
      text["bs"] = below(3) == 0 ? "Piecewise([1, 2], [" + std::to_string(1 + below(8)) + "])" : "1";
      trials.push_back(Whole(text, 9));
    }
    MarginalSteps marginal(trials);
    std::vector<Step> asked(trials.size(), Step{0});
    for (int i = 0; i < 10; ++i) {
      const auto trial = static_cast<std::size_t>(below(12));
      const Step steps{1 + below(9)};
      std::vector<std::int64_t> before;
      for (std::size_t each = 0; each < trials.size(); ++each) before.push_back(marginal.Of(each, Step{9}));
      asked[trial] = std::max(asked[trial], steps);
      const std::vector<std::size_t> touched = marginal.Ask(trial, steps);
      for (std::size_t each = 0; each < trials.size(); ++each) {
        for (const std::int64_t to : {3, 9}) {
          REQUIRE(marginal.Of(each, Step{to}) == OneByOne(trials, asked, each, Step{to}));
        }
        const bool changed = marginal.Of(each, Step{9}) != before[each];
        REQUIRE((!changed || std::count(touched.begin(), touched.end(), each) == 1));
      }
    }
  }
}

TEST_CASE("merge-aware asha starts first what shares most with what it has started") {
  const auto tuner = MergeAware({{{{"lr", "0.1"}}, {}},
                                 {{{"lr", "0.2"}}, {}},
                                 {{{"lr", "Piecewise([0.1, 0.2], [5])"}}, {}},
                                 {{{"lr", "Piecewise([0.1, 0.2], [8])"}}, {}}},
                                {{"open_trials", std::int64_t{4}}});
  CHECK(StartedBy(tuner->Start()) == "0.1\nPiecewise([0.1, 0.2], [8])\nPiecewise([0.1, 0.2], [5])\n0.2\n");
}

TEST_CASE("merge-aware asha starts a trial before it promotes another, if that costs less, and plain asha never does") {
  const std::vector<Candidate> candidates = {{{{"lr", "0.1"}}, {}},
                                             {{{"lr", "Piecewise([0.1, 0.3], [8])"}}, {}},
                                             {{{"lr", "0.2"}}, {}},
                                             {{{"lr", "Piecewise([0.2, 0.3], [8])"}}, {}}};
  const Options options{{"min", std::int64_t{10}}, {"max", std::int64_t{20}}, {"reduction", std::int64_t{2}}};
  const auto plain = MakeTuner("asha", options, {.candidates = candidates}).value();
  const auto aware = MergeAware(candidates);
  for (Tuner* const tuner : {plain.get(), aware.get()}) {
    tuner->Start();
    for (int i = 0; i < 3; ++i) tuner->OnEvent(SlotIdle{});
    for (std::size_t trial = 0; trial < 3; ++trial) {
      tuner->OnEvent(ClaimOutcome{trial, Step{10}, Measured{static_cast<double>(trial)}});
    }
  }
  const ContinueTrial promotion{0, Step{20}};  // ten steps more; the trial that is left adds two
  CHECK(std::get<ContinueTrial>(plain->OnEvent(SlotIdle{}).at(0)) == promotion);
  CHECK(StartedBy(aware->OnEvent(SlotIdle{})) == "Piecewise([0.2, 0.3], [8])\n");
  CHECK(std::get<ContinueTrial>(aware->OnEvent(SlotIdle{}).at(0)) == promotion);
}

TEST_CASE("of those that may be promoted merge-aware asha takes the cheapest, of equals the best") {
  const std::string decayed = "MultiStep(0.1, [15], gamma=0.1)";
  std::vector<Candidate> candidates;
  for (const std::string& text :
       {std::string("0.1"), std::string("0.2"), decayed, std::string("0.3"), std::string("0.4"), std::string("0.5")}) {
    candidates.push_back({{{"lr", text}}, {}});
  }
  const auto tuner = MergeAware(candidates);
  std::vector<std::string> started;
  CHECK(tuner->Start().empty());
  for (int i = 0; i < 6; ++i) {
    const std::vector<Action> actions = tuner->OnEvent(SlotIdle{});
    started.push_back(std::get<StartTrial>(actions.at(0)).sequences.at("lr"));
  }
  const auto index_of = [&](const std::string& text) {
    return static_cast<std::size_t>(std::find(started.begin(), started.end(), text) - started.begin());
  };
  double value = 0;
  for (const std::string& text :
       {std::string("0.1"), std::string("0.2"), decayed, std::string("0.3"), std::string("0.4"), std::string("0.5")}) {
    CHECK(tuner->OnEvent(ClaimOutcome{index_of(text), Step{10}, Measured{value += 0.1}}).empty());
  }
  // Once 0.1 goes on to step 20, the third best adds five steps, the second ten.
  for (const std::string& next : {std::string("0.1"), decayed, std::string("0.2")}) {
    const std::vector<Action> actions = tuner->OnEvent(SlotIdle{});
    REQUIRE(actions.size() == 1);
    CHECK(std::get<ContinueTrial>(actions[0]) == ContinueTrial{index_of(next), Step{20}});
  }
  CHECK(tuner->OnEvent(SlotIdle{}).empty());
}

TEST_CASE("merge-aware asha promotes in the end whatever is among the best half of a rung, and not everything") {
  const std::uint64_t seed = RandomSeed("merge-aware asha");
  std::mt19937_64 random(seed);
  std::vector<Candidate> candidates;
  for (int i = 0; i < 64; ++i) {
    candidates.push_back({{{"lr", "Piecewise([0." + std::to_string(1 + random() % 3) + ", 0." + std::to_string(i) +
                                      "1], [" + std::to_string(1 + random() % 12) + "])"}},
                          {}});
  }
  std::vector<double> worth(64);
  std::iota(worth.begin(), worth.end(), 0.0);
  std::shuffle(worth.begin(), worth.end(), random);
  const auto tuner = MergeAware(candidates, {{"open_trials", std::int64_t{4}}});
  Played played = Play(*tuner, [&](std::size_t trial, Step) { return Measured{worth[trial]}; });
  CHECK(played.finished);
  CHECK(played.started == 64);
  const std::vector<std::size_t>& promoted = played.reached[Step{20}];
  for (std::size_t trial = 0; trial < 64; ++trial) {
    if (worth[trial] < 32) CHECK(std::binary_search(promoted.begin(), promoted.end(), trial));
  }
  CHECK(promoted.size() < 64);
}

TEST_CASE("merge-aware asha takes no option that it does not go with") {
  const Options asha{
      {"min", std::int64_t{1}}, {"max", std::int64_t{4}}, {"reduction", std::int64_t{2}}, {"merge_aware", true}};
  Options stopping = asha;
  stopping["stopping"] = true;
  CHECK(MakeTuner("asha", stopping, {.candidates = Candidates(2)}).error().field == "merge_aware");
  const SearchSpace space{.lists = {{"lr", {"0.1", "0.2"}}}};
  const Trials drawn{.candidates = Candidates(2),
                     .from_space = 2,
                     .space = space,
                     .sampling = Sampling{.trials = 2, .method = SamplingMethod::kTpe}};
  CHECK(MakeTuner("asha", asha, drawn).error().field == "merge_aware");
}

}  // namespace espalier::tuners
