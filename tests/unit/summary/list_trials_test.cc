#include "master/core/views/list_trials.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/random_seed.h"
#include "tests/unit/summary/state_builder.h"

namespace espalier::master {
namespace {

using Ids = std::vector<std::int64_t>;

// All pages of a query, joined.
Ids ListAll(const MasterState& state, TrialQuery query) {
  Ids ids;
  do {
    const TrialPage page = ListTrials(state, query).value();
    CHECK(page.trials.size() <= query.count_max);
    CHECK((page.next_token.empty() || page.trials.size() == query.count_max));
    for (const TrialSummary& trial : page.trials) ids.push_back(trial.id.value);
    query.token = page.next_token;
  } while (!query.token.empty());
  return ids;
}

// Trials 1 to 6: measured 0.5, 0.9, not at all, 0.7, diverged, 0.9.
struct SixTrials : StateBuilder {
  explicit SixTrials(Goal goal = Goal::kMaximize) : study(AddStudy(Scope::kStudy, 0, goal)) {
    for (int i = 1; i <= 6; ++i) trials.push_back(AddTrial(study, "0." + std::to_string(i), 80));
    Claimed(trials[0], 20, 0.5);
    Claimed(trials[1], 20, 0.9);
    AddClaim(trials[2], 20);
    Claimed(trials[3], 20, 0.7);
    Change(trials[4], SetFailure{On(trials[4], 10), Failure{Failure::Kind::kDiverged, "loss is nan"}});
    Settle(AddClaim(trials[4], 20), ClaimState::kDone);
    Claimed(trials[5], 20, 0.9);
  }
  Ids ByMetric(std::vector<std::string> states = {}, std::size_t count = 2) const {
    return ListAll(state, {study, TrialOrder::kMetric, std::move(states), count, {}});
  }
  Ids BySubmission(std::vector<std::string> states = {}) const {
    return ListAll(state, {study, TrialOrder::kSubmission, std::move(states), 2, {}});
  }

  StudyId study;
  std::vector<TrialId> trials;
};

}  // namespace

TEST_CASE("trials are listed as submitted, or the best first and those without a number last") {
  CHECK(SixTrials().BySubmission() == Ids{1, 2, 3, 4, 5, 6});
  CHECK(SixTrials().ByMetric() == Ids{2, 6, 4, 1, 3, 5});
  CHECK(SixTrials(Goal::kMinimize).ByMetric() == Ids{1, 4, 2, 6, 3, 5});
}

TEST_CASE("a page of one holds as much as pages of many") {
  for (const std::size_t count : {1, 2, 3, 6, 100}) CHECK(SixTrials().ByMetric({}, count) == Ids{2, 6, 4, 1, 3, 5});
}

TEST_CASE("a trial is ranked by its last measured step") {
  SixTrials s;
  s.Claimed(s.trials[1], 60, 0.1);
  CHECK(s.ByMetric() == Ids{6, 4, 1, 2, 3, 5});
  s.Finish(s.AddClaim(s.trials[1], 40), 0.99);
  CHECK(s.ByMetric() == Ids{6, 4, 1, 2, 3, 5});
}

TEST_CASE("a list can be of some states alone") {
  SixTrials s;
  s.Close(s.trials[0]);
  s.Close(s.trials[5], true);
  CHECK(s.BySubmission({"idle"}) == Ids{2, 4, 5});
  CHECK(s.BySubmission({"done", "cancelled"}) == Ids{1, 6});
  CHECK(s.ByMetric({"done", "idle"}) == Ids{2, 4, 1, 5});
  CHECK(s.BySubmission({"waiting"}) == Ids{3});
  CHECK(s.BySubmission({"running"}).empty());
  const RunId run = s.AddRun({s.study}, s.trials[2], 0, 20);
  s.Promise(run, 20, Owed::kMetrics);
  CHECK(s.BySubmission({"waiting"}).empty());
  CHECK(s.BySubmission({"running"}) == Ids{3});
  CHECK(s.BySubmission({"running", "waiting"}) == Ids{3});
}

TEST_CASE("pages go on where the last one ended, whatever has changed meanwhile") {
  SixTrials s;
  const TrialPage first = ListTrials(s.state, {s.study, TrialOrder::kMetric, {}, 2, {}}).value();
  s.Claimed(s.AddTrial(s.study, "0.7", 80), 20, 0.95);  // before the place
  s.Claimed(s.AddTrial(s.study, "0.8", 80), 20, 0.6);
  s.Claimed(s.trials[1], 40, 0.2);  // shown already, now behind the place
  CHECK(ListAll(s.state, {s.study, TrialOrder::kMetric, {}, 2, first.next_token}) == Ids{4, 8, 1, 2, 3, 5});
}

TEST_CASE("unknown states and tokens of other lists are refused, naming the field") {
  const SixTrials s;
  const auto field_of = [&](TrialOrder order, std::vector<std::string> states, const std::string& token) {
    const auto listed = ListTrials(s.state, {s.study, order, std::move(states), 2, token});
    return listed.has_value() ? "" : listed.error().field;
  };
  CHECK(field_of(TrialOrder::kMetric, {"asleep"}, "") == "states");
  const std::string by_metric = ListTrials(s.state, {s.study, TrialOrder::kMetric, {}, 2, {}})->next_token;
  CHECK(field_of(TrialOrder::kMetric, {}, by_metric).empty());
  CHECK(field_of(TrialOrder::kSubmission, {}, by_metric) == "page_token");
  for (const char* token : {"x", "s", "s ", "s x", "s 1", "s 1 ", "s 1 x", "m 1 x", "m 1 0.5 ", "m1"}) {
    INFO(token);
    CHECK(field_of(token[0] == 'm' ? TrialOrder::kMetric : TrialOrder::kSubmission, {}, token) == "page_token");
  }
}

// The orders by their definition, from every trial's summary.
TEST_CASE("the index agrees with sorting all trials, after any changes") {
  const std::uint64_t seed = RandomSeed("list of trials");
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  StateBuilder s;
  const StudyId study = s.AddStudy(Scope::kStudy, 0, Goal::kMinimize);
  std::vector<TrialId> trials;
  for (int i = 0; i < 300; ++i) {
    if (trials.empty() || below(3) == 0) trials.push_back(s.AddTrial(study, std::to_string(i + 1), 1000));
    const TrialId trial = trials[below(trials.size())];
    if (s.state.trials.at(trial).closed) continue;
    const Claim claim = s.state.plans.begin()->second.claims.at(s.AddClaim(trial, 10 * i + 1));
    if (below(5) != 0) s.Finish(claim.id, static_cast<double>(below(20)) / 10);
    if (below(10) == 0) s.Close(trial, below(2) == 0);
  }
  std::vector<TrialSummary> sorted;
  for (const TrialId trial : trials) sorted.push_back(SummarizeTrial(s.state, trial));
  std::stable_sort(sorted.begin(), sorted.end(), [](const TrialSummary& a, const TrialSummary& b) {
    return a.metric.value_or(std::numeric_limits<double>::infinity()) <
           b.metric.value_or(std::numeric_limits<double>::infinity());
  });
  const TrialIndex& index = s.state.trial_index.at(study);
  std::int64_t claimed = 0;
  std::optional<double> best;
  for (const TrialSummary& trial : sorted) {
    claimed += trial.steps.value;
    for (const TrialEvaluation& each : trial.evaluations) {
      best = std::min(best.value_or(std::numeric_limits<double>::infinity()), each.metrics.at("test_acc"));
    }
  }
  CHECK(index.claimed_steps() == claimed);
  CHECK((index.best() ? std::optional(index.best()->value) : std::nullopt) == best);
  for (const std::vector<std::string>& states :
       {std::vector<std::string>{}, {"idle"}, {"waiting", "cancelled"}, {"done"}}) {
    Ids expected;
    for (const TrialSummary& trial : sorted) {
      const bool wanted = states.empty() || std::find(states.begin(), states.end(), trial.state) != states.end();
      if (wanted) expected.push_back(trial.id.value);
    }
    CHECK(ListAll(s.state, {study, TrialOrder::kMetric, states, 7, {}}) == expected);
  }
}

TEST_CASE("a trial's metrics are those on its lineage up to its horizon, whoever asked for them") {
  StateBuilder s;
  const StudyId study = s.AddStudy();
  const TrialId constant = s.AddTrial(study, "0.1", 80);
  const TrialId branch = s.AddTrial(study, "MultiStep(0.1, [40], gamma=0.5)", 60);
  s.Claimed(constant, 20, 0.2);
  s.Claimed(constant, 60, 0.6);
  s.Claimed(branch, 50, 0.5);
  const auto steps_of = [&](TrialId trial) {
    Ids steps;
    for (const TrialEvaluation& each : MetricsOnLineage(s.state, trial)) steps.push_back(each.step.value);
    return steps;
  };
  CHECK(steps_of(constant) == Ids{20, 60});
  CHECK(steps_of(branch) == Ids{20, 50});
}

TEST_CASE("where everyone shares, a trial's metrics are those that it or its study asks for") {
  StateBuilder s;
  const StudyId theirs = s.AddStudy(Scope::kEveryone);
  const TrialId long_trial = s.AddTrial(theirs, "0.1", 80);
  for (const std::int64_t step : {17, 20, 40, 60}) s.Claimed(long_trial, step, 0.5);
  s.team = "others";
  const StudyId study = s.AddStudy(Scope::kEveryone);
  const TrialId trial = s.AddTrial(study, "0.1", 70);
  s.Claimed(trial, 60, 0.5);
  const auto steps_of = [&](TrialId id) {
    Ids steps;
    for (const TrialEvaluation& each : MetricsOnLineage(s.state, id)) steps.push_back(each.step.value);
    return steps;
  };
  CHECK(steps_of(long_trial) == Ids{17, 20, 40, 60});
  CHECK(steps_of(trial) == Ids{60});
  s.state.studies.at(study).specification.evaluate_every = 20;
  CHECK(steps_of(trial) == Ids{20, 40, 60});
}

}  // namespace espalier::master
