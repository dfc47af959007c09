// Tuners whose hosts are killed, and tuners that are given the events of a study that was: with the real master core,
// in virtual time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>

#include "client/space/sampling.h"
#include "client/tuners/driver.h"
#include "client/tuners/registry.h"
#include "sim/simulated_studies.h"
#include "tests/support/random_seed.h"
#include "tests/support/rounds.h"

namespace espalier::sim {
namespace {

const SearchSpace kSequences{.lists = {{"lr", {"uniform(0.01, 1)", "MultiStep(0.1, [9], gamma=uniform(0.1, 0.9))"}}},
                             .fixed = {}};
const SearchSpace kValues{.lists = {{"lr", {"uniform(0.01, 1)"}}}, .fixed = {}};

TunerMaker MakerOf(const std::string& name, const tuners::Options& options, std::size_t trial_count) {
  const Sampling sampling{
      .trials = trial_count, .seed = 1, .method = tuners::SamplingOf(name).value_or(SamplingMethod::kRandom)};
  const SearchSpace& space = name == "pbt" ? kValues : kSequences;
  tuners::Trials trials{.from_space = trial_count, .space = space, .sampling = sampling};
  for (const TrialText& text : Sample(space, sampling)) trials.candidates.push_back({text, std::nullopt});
  return [=] { return tuners::MakeTuner(name, options, trials).value(); };
}

tuners::Options Halving() {
  return {{"min", std::int64_t{3}}, {"max", std::int64_t{27}}, {"reduction", std::int64_t{3}}};
}

// Each tuner that there is, in all that makes it go by other events.
std::map<std::string, std::vector<tuners::Options>> EveryTuner() {
  const tuners::Options steps{{"steps", std::int64_t{27}}};
  const auto with = [](tuners::Options options, const std::string& name, tuners::Option value) {
    options[name] = std::move(value);
    return options;
  };
  const tuners::Options stopping = with(with(steps, "every", std::int64_t{3}), "grace", std::int64_t{3});
  const tuners::Options early{{"milestones", tuners::Counts{{3, 40}, {9, 10}, {27, 5}}}};
  return {{"asha",
           {Halving(), with(Halving(), "open_trials", std::int64_t{4}), with(Halving(), "stopping", true),
            with(Halving(), "merge_aware", true)}},
          {"early_stop", {early}},
          {"grid", {steps}},
          {"hyperband", {{{"max", std::int64_t{27}}, {"reduction", std::int64_t{3}}}}},
          {"median", {stopping, with(stopping, "open_trials", std::int64_t{4})}},
          {"pbt", {with(steps, "interval", std::int64_t{9})}},
          {"random", {steps, with(steps, "open_trials", std::int64_t{4})}},
          {"sha", {Halving()}},
          {"tpe", {steps, with(steps, "open_trials", std::int64_t{4})}}};
}

StudyToSimulate Study(const TunerMaker& make_tuner) {
  return {.specification = {.name = "study",
                            .trainer = "any",
                            .metric = "score",
                            .undeclared = {{"lr", ValueType::kFloating}},
                            .asks_for_idle_slots = make_tuner()->AsksForIdleSlots()},
          .make_tuner = make_tuner};
}

// What one batch did, but for what it closed by finishing the study: how many trials it started, what it claimed and
// which trials it closed, each in ascending order.
struct Entered {
  std::size_t started = 0;
  std::vector<std::pair<TrialId, Step>> claims;
  std::vector<TrialId> closed;
  friend bool operator==(const Entered&, const Entered&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Entered& entered) {
    out << entered.started << " trials";
    for (const auto& [trial, step] : entered.claims) out << " " << trial.value << "@" << step.value;
    for (const TrialId trial : entered.closed) out << " closed " << trial.value;
    return out;
  }
};

// What the stored events say.
std::vector<Entered> StoredBatches(const std::vector<StudyEvent>& events) {
  std::vector<Entered> batches;
  Entered batch;
  for (const StudyEvent& event : events) {
    if (std::holds_alternative<TrialSubmitted>(event)) ++batch.started;
    if (const auto* made = std::get_if<ClaimMade>(&event)) batch.claims.emplace_back(made->trial, made->step);
    if (const auto* closed = std::get_if<TrialClosed>(&event)) batch.closed.push_back(closed->trial);
    if (std::holds_alternative<BatchTaken>(event)) {
      std::ranges::sort(batch.claims);
      std::ranges::sort(batch.closed);
      batches.push_back(std::exchange(batch, {}));
    }
  }
  return batches;
}

// What a new tuner asks for, given those events and nothing else.
std::vector<Entered> BatchesAgain(const StudyToSimulate& study, const TunerMaker& make_tuner,
                                  const std::vector<StudyEvent>& events) {
  const std::unique_ptr<tuners::Tuner> tuner = make_tuner();
  tuners::Driver driver(*tuner, study.specification.metric, study.specification.goal);
  std::vector<TrialId> trials;
  for (const StudyEvent& event : events) {
    if (const auto* submitted = std::get_if<TrialSubmitted>(&event)) trials.push_back(submitted->trial);
  }
  std::vector<Entered> batches;
  std::size_t started = 0;
  const auto enter = [&](const Batch& batch) {
    Entered entered{.started = batch.new_trials.size()};
    for (const tuners::StartTrial& start : batch.new_trials) {
      REQUIRE(started < trials.size());
      const TrialId trial = trials[started++];
      entered.claims.emplace_back(trial, start.steps);
      for (const Step more : start.more) entered.claims.emplace_back(trial, more);
    }
    for (const FurtherClaim& claim : batch.claims) entered.claims.emplace_back(claim.trial, claim.steps);
    for (const auto& close : {batch.close, batch.cancel}) {
      entered.closed.insert(entered.closed.end(), close.begin(), close.end());
    }
    std::ranges::sort(entered.claims);
    std::ranges::sort(entered.closed);
    batches.push_back(std::move(entered));
  };
  for (const StudyEvent& event : events) {
    while (const std::optional<tuners::NumberedBatch> next = driver.Next()) enter(next->batch);
    driver.OnEvent(event);
  }
  return batches;
}

// How far each trial came, and its metric there: of each claim, whenever it was settled.
std::map<std::pair<TrialId, Step>, Metrics> Decisions(const std::vector<StudyEvent>& events) {
  std::map<std::pair<TrialId, Step>, Metrics> settled;
  for (const StudyEvent& event : events) {
    if (const auto* claim = std::get_if<ClaimSettled>(&event)) settled[{claim->trial, claim->step}] = claim->metrics;
  }
  return settled;
}

std::set<std::size_t> SomeOf(std::size_t event_count, std::size_t count, std::mt19937_64& generator) {
  std::set<std::size_t> picked;
  while (picked.size() < count) picked.insert(1 + generator() % event_count);
  return picked;
}

}  // namespace

TEST_CASE("every tuner, given the stored events of a study, makes exactly the stored batches", "[property]") {
  const std::uint64_t seed = RandomSeed("replayed tuners");
  std::mt19937_64 generator(seed);
  std::map<std::string, std::vector<tuners::Options>> every_tuner = EveryTuner();
  for (const tuners::TunerKind& kind : tuners::TunerKinds()) {
    INFO(kind.name);
    REQUIRE_FALSE(every_tuner[kind.name].empty());
    for (const tuners::Options& options : every_tuner[kind.name]) {
      for (const auto& [name, value] : options) UNSCOPED_INFO(name);
      const TunerMaker make_tuner = MakerOf(kind.name, options, 40);
      StudyToSimulate study = Study(make_tuner);
      study.host_killed_after = SomeOf(100, 10, generator);
      const Result<SimulatedStudy> simulation = SimulateStudy({.servers = {{.slots = 3}}}, study);
      if (!simulation.has_value()) FAIL(simulation.error().field + ": " + simulation.error().message);
      const SimulatedStudy& simulated = *simulation;
      CHECK(simulated.summary.steps.wasted == 0);
      const std::vector<Entered> stored = StoredBatches(simulated.events);
      CHECK(BatchesAgain(study, make_tuner, simulated.events) == stored);
    }
  }
}

TEST_CASE("grid, SHA and Hyperband decide the same of 1,000 trials, whenever the tuner's host is killed",
          "[property]") {
  const std::uint64_t seed = RandomSeed("killed tuners' hosts");
  std::mt19937_64 generator(seed);
  const auto trial_count = static_cast<std::size_t>(Rounds(1000));
  for (const char* name : {"grid", "sha", "hyperband"}) {
    INFO(name);
    const TunerMaker make_tuner = MakerOf(name, EveryTuner().at(name).front(), trial_count);
    StudyToSimulate study = Study(make_tuner);
    const SimulatedStudy undisturbed = SimulateStudy({.servers = {{.slots = 16}}}, study).value();
    CHECK(Decisions(undisturbed.events).size() >= trial_count);
    study.host_killed_after = SomeOf(undisturbed.events.size(), 30, generator);
    const SimulatedStudy killed = SimulateStudy({.servers = {{.slots = 16}}}, study).value();
    CHECK(Decisions(killed.events) == Decisions(undisturbed.events));
    CHECK(killed.summary.steps.trained == undisturbed.summary.steps.trained);
    CHECK(killed.summary.steps.wasted == 0);
    CHECK(killed.summary.best->trial == undisturbed.summary.best->trial);
  }
}

}  // namespace espalier::sim
