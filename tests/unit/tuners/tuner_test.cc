#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "client/tuners/registry.h"
#include "client/tuners/rungs.h"
#include "tests/support/random_seed.h"
#include "tests/unit/tuners/play.h"

namespace espalier::tuners {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Options Sha(std::int64_t min, std::int64_t max, std::int64_t reduction) {
  return {{"min", min}, {"max", max}, {"reduction", reduction}};
}

std::unique_ptr<Tuner> Make(const std::string& name, const Options& options, std::vector<Candidate> candidates) {
  Result<std::unique_ptr<Tuner>> tuner = MakeTuner(name, options, {std::move(candidates)});
  REQUIRE(tuner.has_value());
  return std::move(*tuner);
}

std::vector<std::int64_t> RungSteps(std::int64_t least, std::int64_t most, std::int64_t reduction) {
  std::vector<std::int64_t> steps;
  for (const Step rung : Rungs(Step{least}, Step{most}, reduction)) steps.push_back(rung.value);
  return steps;
}

std::vector<std::pair<std::size_t, std::int64_t>> Continued(const std::vector<Action>& actions) {
  std::vector<std::pair<std::size_t, std::int64_t>> continued;
  for (const Action& action : actions) {
    if (const auto* more = std::get_if<ContinueTrial>(&action)) continued.emplace_back(more->trial, more->steps.value);
  }
  return continued;
}

std::vector<std::size_t> Closed(const std::vector<Action>& actions) {
  std::vector<std::size_t> closed;
  for (const Action& action : actions) {
    if (const auto* close = std::get_if<CloseTrial>(&action)) closed.push_back(close->trial);
  }
  return closed;
}

// Settles a rung in the order of trials and returns what the last one leads to.
std::vector<Action> SettleAll(Tuner& tuner, Step steps, const std::vector<Outcome>& outcomes) {
  std::vector<Action> actions;
  for (std::size_t trial = 0; trial < outcomes.size(); ++trial) {
    CHECK(actions.empty());
    actions = tuner.OnEvent(ClaimOutcome{trial, steps, outcomes[trial]});
  }
  return actions;
}

std::vector<Outcome> Values(const std::vector<double>& values) {
  std::vector<Outcome> outcomes;
  for (const double value : values) outcomes.push_back(Measured{value});
  return outcomes;
}

using OutcomeAt = std::function<Outcome(std::size_t trial, Step steps)>;

// Plays a whole study, settling waiting claims in an order drawn from `generator`; returns the batches of actions.
std::vector<std::vector<Action>> PlayOut(Tuner& tuner, const OutcomeAt& outcome_at, std::mt19937_64& generator) {
  std::vector<std::vector<Action>> batches;
  std::vector<std::pair<std::size_t, Step>> waiting;
  std::size_t trial_count = 0;
  const auto take = [&](std::vector<Action> actions) {
    if (actions.empty()) return;
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartTrial>(&action)) waiting.emplace_back(trial_count++, start->steps);
      if (const auto* more = std::get_if<ContinueTrial>(&action)) waiting.emplace_back(more->trial, more->steps);
    }
    batches.push_back(std::move(actions));
  };
  take(tuner.Start());
  while (!waiting.empty()) {
    const std::size_t pick = std::uniform_int_distribution<std::size_t>(0, waiting.size() - 1)(generator);
    const auto [trial, steps] = waiting[pick];
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(pick));
    take(tuner.OnEvent(ClaimOutcome{trial, steps, outcome_at(trial, steps)}));
  }
  return batches;
}

}  // namespace

TEST_CASE("rungs are whole numbers, up to the largest step and never past it") {
  CHECK(RungSteps(15, 120, 4) == std::vector<std::int64_t>{15, 60, 120});
  CHECK(RungSteps(1, 9, 3) == std::vector<std::int64_t>{1, 3, 9});
  CHECK(RungSteps(100, 900, 3) == std::vector<std::int64_t>{100, 300, 900});
  CHECK(RungSteps(1, 243, 3) == std::vector<std::int64_t>{1, 3, 9, 27, 81, 243});
  CHECK(RungSteps(1, 1000, 10) == std::vector<std::int64_t>{1, 10, 100, 1000});
  CHECK(RungSteps(7, 7, 2) == std::vector<std::int64_t>{7});
  CHECK(RungSteps(kStepMax.value - 1, kStepMax.value, 4'000'000'000'000'000'000) ==
        std::vector<std::int64_t>{kStepMax.value - 1, kStepMax.value});
}

TEST_CASE("random search keeps so many trials open if it is told to, else starts them all at once") {
  const Options options{{"steps", std::int64_t{8}}, {"open_trials", std::int64_t{2}}};
  const auto few = MakeTuner("random", options, {Candidates(4)}).value();
  CHECK(few->Start().size() == 2);
  CHECK(few->OnEvent(ClaimOutcome{1, Step{8}, Measured{0.5}}).size() == 2);  // closes it, starts one
  CHECK(MakeTuner("random", {{"steps", std::int64_t{8}}}, {Candidates(4)}).value()->Start().size() ==
        5);  // and is done
}

TEST_CASE("a grid submits every candidate to its last step at once and is done") {
  std::vector<Candidate> candidates = Candidates(2);
  candidates[1].steps = Step{40};
  const auto tuner = Make("grid", {{"steps", std::int64_t{80}}}, candidates);
  const std::vector<Action> actions = tuner->Start();
  REQUIRE(actions.size() == 3);
  CHECK(actions[0] == Action{StartTrial{{{"lr", "0.5"}}, Step{80}, Step{80}}});
  CHECK(actions[1] == Action{StartTrial{{{"lr", "1.5"}}, Step{40}, Step{40}}});
  CHECK(actions[2] == Action{FinishStudy{}});
  CHECK(tuner->OnEvent(ClaimOutcome{0, Step{80}, Measured{0.1}}).empty());
}

TEST_CASE("successive halving starts every trial at the first rung with its whole horizon") {
  const auto tuner = Make("sha", Sha(15, 120, 4), Candidates(3));
  const std::vector<Action> actions = tuner->Start();
  REQUIRE(actions.size() == 3);
  for (const Action& action : actions) {
    CHECK(std::get<StartTrial>(action).steps == Step{15});
    CHECK(std::get<StartTrial>(action).horizon == Step{120});
  }
}

TEST_CASE("successive halving keeps the best floor(n / reduction) and closes the rest when the rung is decided") {
  const auto tuner = Make("sha", Sha(15, 120, 4), Candidates(9));
  tuner->Start();
  const std::vector<Action> actions = SettleAll(*tuner, Step{15}, Values({.5, .4, .6, .45, .3, .55, .35, .2, .5}));
  CHECK(Continued(actions) == std::vector<std::pair<std::size_t, std::int64_t>>{{4, 60}, {7, 60}});
  CHECK(Closed(actions) == std::vector<std::size_t>{0, 1, 2, 3, 5, 6, 8});
  CHECK(tuner->OnEvent(ClaimOutcome{4, Step{60}, Measured{.1}}).empty());
  const std::vector<Action> last_rung = tuner->OnEvent(ClaimOutcome{7, Step{60}, Measured{.2}});
  CHECK(Continued(last_rung) == std::vector<std::pair<std::size_t, std::int64_t>>{{4, 120}});
  CHECK(tuner->OnEvent(ClaimOutcome{4, Step{120}, Measured{.1}}) == std::vector<Action>{FinishStudy{}});
}

TEST_CASE("among equal values the earlier submitted trial goes on") {
  const auto tuner = Make("sha", Sha(1, 9, 3), Candidates(6));
  tuner->Start();
  CHECK(Continued(SettleAll(*tuner, Step{1}, Values({.7, .5, .5, .5, .5, .6}))) ==
        std::vector<std::pair<std::size_t, std::int64_t>>{{1, 3}, {2, 3}});
}

TEST_CASE("not a number ranks below every number, and above failed trials, which count but never go on") {
  const auto tuner = Make("sha", Sha(1, 9, 2), Candidates(4));
  tuner->Start();
  const std::vector<Action> actions =
      SettleAll(*tuner, Step{1}, {Failed{}, Measured{kNan}, Cancelled{}, Measured{1e300}});
  CHECK(Continued(actions) == std::vector<std::pair<std::size_t, std::int64_t>>{{1, 2}, {3, 2}});
  CHECK(Closed(actions) == std::vector<std::size_t>{0});  // a cancelled one is closed already

  const auto mostly_failed = Make("sha", Sha(1, 9, 2), Candidates(4));
  mostly_failed->Start();
  CHECK(Continued(SettleAll(*mostly_failed, Step{1}, {Failed{}, Failed{}, Failed{}, Measured{kNan}})) ==
        std::vector<std::pair<std::size_t, std::int64_t>>{{3, 2}});
}

TEST_CASE("a rung in which every trial failed ends the study") {
  const auto tuner = Make("sha", Sha(1, 9, 3), Candidates(2));
  tuner->Start();
  CHECK(SettleAll(*tuner, Step{1}, {Failed{}, Failed{}}) == std::vector<Action>{FinishStudy{}});
}

TEST_CASE("a rung of fewer trials than the reduction still sends its best one on") {
  const auto tuner = Make("sha", Sha(1, 9, 3), Candidates(2));
  tuner->Start();
  CHECK(Continued(SettleAll(*tuner, Step{1}, {Measured{.2}, Measured{.1}})) ==
        std::vector<std::pair<std::size_t, std::int64_t>>{{1, 3}});
}

TEST_CASE("a candidate with a horizon of its own is claimed no further and compared with what it reached") {
  std::vector<Candidate> candidates = Candidates(2);
  candidates[0].steps = Step{2};
  const auto tuner = Make("sha", Sha(1, 9, 2), candidates);
  CHECK(std::get<StartTrial>(tuner->Start()[0]).horizon == Step{2});
  // Rungs 1, 2, 4, 8, 9: alone from rung 2 on, it has nothing left to reach after step 2.
  CHECK(Continued(SettleAll(*tuner, Step{1}, {Measured{.1}, Measured{.2}})) ==
        std::vector<std::pair<std::size_t, std::int64_t>>{{0, 2}});
  CHECK(tuner->OnEvent(ClaimOutcome{0, Step{2}, Measured{.1}}) == std::vector<Action>{FinishStudy{}});
}

TEST_CASE("an outcome that was reported already, or is of no claim of the rung, changes nothing") {
  const auto tuner = Make("sha", Sha(1, 9, 2), Candidates(2));
  tuner->Start();
  CHECK(tuner->OnEvent(ClaimOutcome{0, Step{1}, Measured{.1}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{0, Step{1}, Measured{.9}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{5}, Measured{.9}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{7, Step{1}, Measured{.9}}).empty());
  CHECK(Continued(tuner->OnEvent(ClaimOutcome{1, Step{1}, Measured{.5}})) ==
        std::vector<std::pair<std::size_t, std::int64_t>>{{0, 2}});
}

TEST_CASE("successive halving decides the same whatever the order of arrival within a rung", "[property]") {
  const std::uint64_t seed = RandomSeed("order within a rung");
  std::mt19937_64 generator(seed);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(generator);
  };
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<std::size_t>(draw(1, 40));
    const Options options = Sha(draw(1, 5), draw(5, 90), draw(2, 4));
    const std::int64_t salt = draw(0, 1'000'000);
    const OutcomeAt outcome_at = [&](std::size_t trial, Step steps) -> Outcome {
      std::mt19937_64 own(static_cast<std::uint64_t>(salt) * 7919 + trial * 31 +
                          static_cast<std::uint64_t>(steps.value));
      const std::uint64_t kind = own() % 10;
      if (kind == 0) return Failed{};
      if (kind == 1) return Cancelled{};
      if (kind == 2) return Measured{kNan};
      return Measured{static_cast<double>(own() % 4)};
    };
    const auto first = Make("sha", options, Candidates(count));
    const auto second = Make("sha", options, Candidates(count));
    const auto batches = PlayOut(*first, outcome_at, generator);
    CHECK(batches == PlayOut(*second, outcome_at, generator));
    CHECK(batches.back().back() == Action{FinishStudy{}});
  }
}

TEST_CASE("asha promotes as the paper's algorithm does") {
  Options options = Sha(1, 3, 3);
  options["open_trials"] = std::int64_t{12};
  const auto tuner = Make("asha", options, Candidates(12));
  CHECK(tuner->Start().size() == 12);
  const std::vector<double> values = {.50, .40, .60, .45, .30, .55, .35, .20, .50, .25, .28, .65};
  const std::vector<int> promoted = {-1, -1, 1, -1, 4, -1, 6, 7, -1, 9, 10, -1};
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("report " << i);
    std::vector<std::pair<std::size_t, std::int64_t>> expected;
    if (promoted[i] >= 0) expected.emplace_back(promoted[i], 3);
    CHECK(Continued(tuner->OnEvent(ClaimOutcome{i, Step{1}, Measured{values[i]}})) == expected);
  }
  for (const std::size_t trial : {1, 4, 6, 7, 9})
    CHECK(tuner->OnEvent(ClaimOutcome{trial, Step{3}, Measured{.1}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{10, Step{3}, Measured{.1}}) == std::vector<Action>{FinishStudy{}});
}

TEST_CASE("asha keeps so many trials open, promotes from the highest rung first, and starts others when it cannot") {
  Options options = Sha(1, 4, 2);
  options["open_trials"] = std::int64_t{2};
  const auto tuner = Make("asha", options, Candidates(6));
  const auto started = [](const std::vector<Action>& actions) {
    return std::count_if(actions.begin(), actions.end(),
                         [](const Action& action) { return std::holds_alternative<StartTrial>(action); });
  };
  using Further = std::vector<std::pair<std::size_t, std::int64_t>>;
  CHECK(started(tuner->Start()) == 2);
  CHECK(started(tuner->OnEvent(ClaimOutcome{0, Step{1}, Measured{.5}})) == 1);  // no rung has two entries
  CHECK(Continued(tuner->OnEvent(ClaimOutcome{1, Step{1}, Measured{.4}})) == Further{{1, 2}});
  CHECK(started(tuner->OnEvent(ClaimOutcome{2, Step{1}, Measured{.9}})) == 1);  // the best of three is promoted already
  CHECK(Continued(tuner->OnEvent(ClaimOutcome{3, Step{1}, Measured{.1}})) == Further{{3, 2}});
  CHECK(started(tuner->OnEvent(ClaimOutcome{1, Step{2}, Measured{.4}})) == 1);
  CHECK(Continued(tuner->OnEvent(ClaimOutcome{3, Step{2}, Measured{.3}})) == Further{{3, 4}});
  CHECK(started(tuner->OnEvent(ClaimOutcome{4, Step{1}, Failed{}})) == 1);  // counts, and never goes on
  CHECK(Continued(tuner->OnEvent(ClaimOutcome{5, Step{1}, Measured{.45}})) == Further{{5, 2}});
  CHECK(tuner->OnEvent(ClaimOutcome{3, Step{4}, Measured{.2}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{5, Step{2}, Measured{kNan}}) == std::vector<Action>{FinishStudy{}});
  CHECK(tuner->OnEvent(ClaimOutcome{5, Step{2}, Measured{.1}}).empty());
}

TEST_CASE(
    "asha does one thing for each slot that would be idle, and nothing by itself, unless it is told how many trials") {
  const auto tuner = Make("asha", Sha(1, 4, 2), Candidates(2));
  CHECK(tuner->AsksForIdleSlots());
  CHECK(tuner->Start().empty());
  CHECK(std::holds_alternative<StartTrial>(tuner->OnEvent(SlotIdle{}).at(0)));
  CHECK(std::holds_alternative<StartTrial>(tuner->OnEvent(SlotIdle{}).at(0)));
  CHECK(tuner->OnEvent(SlotIdle{}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{0, Step{1}, Measured{.2}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{1}, Measured{.1}}).empty());
  CHECK(Continued(tuner->OnEvent(SlotIdle{})) == std::vector<std::pair<std::size_t, std::int64_t>>{{1, 2}});
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{2}, Measured{.1}}) == std::vector<Action>{FinishStudy{}});
  CHECK(tuner->OnEvent(SlotIdle{}).empty());
  Options open = Sha(1, 4, 2);
  open["open_trials"] = std::int64_t{2};
  CHECK_FALSE(Make("asha", open, Candidates(2))->AsksForIdleSlots());
}

TEST_CASE("asha takes a candidate with a horizon of its own no further than that") {
  Options options = Sha(1, 4, 2);
  options["open_trials"] = std::int64_t{2};
  std::vector<Candidate> candidates = Candidates(2);
  candidates[0].steps = Step{1};
  const auto tuner = Make("asha", options, candidates);
  tuner->Start();
  CHECK(tuner->OnEvent(ClaimOutcome{0, Step{1}, Measured{.1}}).empty());
  CHECK(tuner->OnEvent(ClaimOutcome{1, Step{1}, Measured{.2}}) == std::vector<Action>{FinishStudy{}});
}

TEST_CASE("unknown tuners, unknown options and wrong values are refused with what is expected") {
  const auto error = [](const std::string& name, const Options& options) {
    return MakeTuner(name, options, {Candidates(1)}).error();
  };
  CHECK(error("asa", {}).message ==
        "unknown tuner asa; expected one of: asha, early_stop, grid, hyperband, median, pbt, random, sha, tpe");
  CHECK(error("sha", {{"minimum", std::int64_t{1}}}).message ==
        "unknown option of sha; expected one of: min, max, reduction");
  CHECK(error("sha", {{"minimum", std::int64_t{1}}}).field == "minimum");
  CHECK(error("sha", Sha(0, 9, 3)) ==
        Error{ErrorCode::kInvalidArgument, "got 0; expected a whole number of at least 1", "min"});
  CHECK(error("sha", Sha(10, 9, 3)).field == "max");
  CHECK(error("sha", Sha(1, 9, 1)).field == "reduction");
  CHECK(error("sha", {{"min", 1.5}}).message == "got 1.5; expected a whole number of at least 1");
  CHECK(error("sha", {{"min", true}}).field == "min");
  Options closed = Sha(1, 9, 3);
  closed["open_trials"] = std::int64_t{0};
  CHECK(error("asha", closed).field == "open_trials");
  CHECK(error("grid", {}) ==
        Error{ErrorCode::kInvalidArgument, "is missing; expected a whole number of at least 1", "steps"});
}

}  // namespace espalier::tuners
