// Policies and a deadline, in the simulator, on workloads as HyperSched's own (sections 5 and 6): as many trials as
// anybody may want, each better the longer it trains; how good the best one is by the deadline.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <set>

#include "bench/benches.h"
#include "bench/recorded_curves.h"
#include "bench/service.h"
#include "client/tuners/registry.h"
#include "sim/simulated_studies.h"

namespace espalier::bench {
namespace {

constexpr std::int64_t kDeadlineSeeds = 10;
constexpr std::int64_t kCifarSeeds = 20;
constexpr double kMinute = 60;  // one of the paper's units of time

// Of a trial, by its number, and what else it is.
using Score = std::function<double(const worker::Values&, Step)>;

struct Race {
  int slots = 1;
  Seconds deadline{0};
  Seconds step{0};    // one, on one slot
  Seconds change{0};  // what a start takes, of a new trial or of a stored state
  std::int64_t steps = 1;
  std::int64_t first_rung = 1;
  std::map<std::int64_t, double> speeds;
  Score score;
  std::vector<std::string> trials;  // sequences of `trial`
  Scope scope = Scope::kNobody;
  std::uint64_t seed = 1;
};

struct RaceEnd {
  double best = 0;
  std::size_t trials = 0;  // that were begun
};

sim::StudyToSimulate RacingStudyOf(const Race& race, const std::string& tuner) {
  std::vector<tuners::Candidate> candidates;
  for (const std::string& trial : race.trials) candidates.push_back({{{"trial", trial}}, std::nullopt});
  tuners::Options options{{"steps", Value{race.steps}}};
  if (tuner == "asha") {
    options = {{"min", Value{race.first_rung}}, {"max", Value{race.steps}}, {"reduction", Value{std::int64_t{4}}}};
  }
  return {.specification = {.name = "study",
                            .trainer = "scores",
                            .evaluate_every = 1,
                            .metric = "score",
                            .scope = race.scope,
                            .undeclared = {{"trial", ValueType::kInteger}},
                            .tuner = tuner,
                            .asks_for_idle_slots = tuner == "asha"},
          .make_tuner = [=] { return tuners::MakeTuner(tuner, options, {candidates}).value(); }};
}

// What policy and tuner make of it by the deadline.
RaceEnd Run(const Race& race, const std::string& policy, const std::string& tuner) {
  sim::StudyToSimulate study = RacingStudyOf(race, tuner);
  if (policy == "hypersched") {
    study.specification.policy = {
        .may_stop = true, .deadline = race.deadline, .min_steps = race.first_rung, .speeds = race.speeds};
  } else {
    study.specification.stop.after = race.deadline;
  }
  RaceEnd finish;
  std::set<std::size_t> begun;
  sim::ServiceToSimulate service{.servers = {{.slots = race.slots}},
                                 .seed = race.seed,
                                 .durations = {.network = Seconds(0.001),
                                               .commit = Seconds(0.001),
                                               .upload = Seconds(0.01),
                                               .fetch = Seconds(0.01),
                                               .start_worker = Seconds(0.01),
                                               .set_up = race.change,
                                               .load = race.change,
                                               .train = race.step,
                                               .evaluate = Seconds(0.001),
                                               .save = Seconds(0.01),
                                               .vary = false},
                                 .policy = policy};
  service.measures.score = [&](const worker::Values& values, Step step) {
    begun.insert(NumberIn(values, "trial"));
    return race.score(values, step);
  };
  service.measured = [&](const Metrics& metrics, Seconds at) {
    if (at <= race.deadline) finish.best = std::max(finish.best, metrics.at("score"));
  };
  const auto simulated = sim::SimulateStudies(service, {study});
  if (!simulated.has_value()) GiveUp(simulated.error().message);
  finish.trials = begun.size();
  return finish;
}

struct Means {
  double best = 0;
  double trials = 0;
};

// Over seeds, each a race of its own.
template <class MakeRace>
Means MeanOf(std::int64_t seeds, const std::string& policy, const std::string& tuner, const MakeRace& make) {
  std::vector<double> best;
  std::vector<double> trials;
  for (std::int64_t seed = 1; seed <= seeds; ++seed) {
    const RaceEnd finish = Run(make(static_cast<std::uint64_t>(seed)), policy, tuner);
    best.push_back(finish.best);
    trials.push_back(static_cast<double>(finish.trials));
  }
  return {Mean(best), Mean(trials)};
}

template <class MakeRace>
void Compare(Figures& figures, const std::string& name, std::int64_t seeds, bool is_short, const MakeRace& make) {
  const Means ours = MeanOf(seeds, "hypersched", "grid", make);
  const Means asha = MeanOf(seeds, "critical_path_not_preempting", "asha", make);
  const Means fifo = MeanOf(seeds, "critical_path_not_preempting", "grid", make);
  figures.Add(name + "_hypersched", ours.best);
  figures.Add(name + "_ahead_of_asha", ours.best - asha.best, is_short ? ">= 0.03" : ">= -0.01");
  figures.Add(name + "_ahead_of_fifo", ours.best - fifo.best);
  figures.Add(name + "_trials_over_asha", ours.trials / asha.trials, is_short ? "< 0.5" : "");
}

// The paper's formula.
struct Curve {
  double b0, b1, b2;
  double At(std::int64_t k) const {
    const double steps = static_cast<double>(k);
    return (2 - (1 / (.01 * b0 * steps + .1 * b1 + .5) + .01 * b2)) / 2;
  }
};

std::vector<Curve> Curves(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> rate(10);
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < count; ++i) {
    const double b0 = rate(random);
    const double b1 = share(random);
    curves.push_back({b0, b1, share(random)});
  }
  return curves;
}

std::vector<std::string> Numbers(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

// With the square root of the slots.
std::map<std::int64_t, double> RootSpeeds(int slots) {
  std::map<std::int64_t, double> speeds;
  for (int i = 2; i <= slots; ++i) speeds[i] = std::sqrt(i);
  return speeds;
}

Race FormulaRace(int slots, double units, std::uint64_t seed) {
  const std::size_t count = static_cast<std::size_t>(units) * 10 * static_cast<std::size_t>(slots) / 5;
  const auto curves = std::make_shared<std::vector<Curve>>(Curves(count, seed));
  return {.slots = slots,
          .deadline = Seconds(units * kMinute),
          .step = Seconds(0.1 * kMinute),
          .change = Seconds(0.01),
          .steps = 500,
          .first_rung = 5,
          .speeds = RootSpeeds(slots),
          .score = [curves](const worker::Values& values,
                            Step step) { return (*curves)[NumberIn(values, "trial")].At(step.value); },
          .trials = Numbers(count),
          .seed = seed};
}

// Families that train alike up to their decay, which lifts them the more the later it comes: sharing makes four of one.
constexpr std::int64_t kOfAFamily = 4;
constexpr std::int64_t kTurn = 80;

Race FamilyRace(Scope scope, std::uint64_t seed) {
  constexpr int kSlots = 4;
  constexpr std::size_t kFamilies = 60;
  const auto curves = std::make_shared<std::vector<Curve>>(Curves(kFamilies, seed));
  Race race = FormulaRace(kSlots, 60, seed);
  race.steps = 160;
  race.scope = scope;
  race.score = [curves](const worker::Values& values, Step step) {
    const auto number = static_cast<std::int64_t>(NumberIn(values, "trial"));
    const double trunk = (*curves)[static_cast<std::size_t>(number / 10)].At(step.value);
    const std::int64_t decay = number % 10;  // 0: none yet
    const double since = static_cast<double>(step.value - kTurn - 10 * (decay - 1));
    return decay == 0 ? trunk : trunk + 0.05 * static_cast<double>(decay) * (1 - std::exp(-std::max(0.0, since) / 10));
  };
  race.trials.clear();
  for (std::size_t family = 0; family < kFamilies; ++family) {
    for (std::int64_t decay = 1; decay <= kOfAFamily; ++decay) {
      const auto number = static_cast<std::int64_t>(family) * 10;
      race.trials.push_back("Piecewise([" + std::to_string(number) + ", " + std::to_string(number + decay) + "], [" +
                            std::to_string(kTurn + 10 * (decay - 1)) + "])");
    }
  }
  return race;
}

// Every run of the problem, in random order.
Race CifarRace(const std::vector<std::vector<double>>& curves, double seconds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> trials = Numbers(curves.size());
  std::ranges::shuffle(trials, random);
  return {.slots = 8,
          .deadline = Seconds(seconds),
          .step = Seconds(40),
          .change = Seconds(5),
          .steps = 100,
          .first_rung = 2,
          .speeds = {{2, 1.87}, {4, 3.42}, {8, 5.60}},  // of ResNet-50 (table 3)
          .score =
              [&curves](const worker::Values& values, Step step) {
                return curves[NumberIn(values, "trial")].at(static_cast<std::size_t>(step.value));
              },
          .trials = std::move(trials),
          .seed = seed};
}

}  // namespace

void RunDeadlines(Figures& figures, Size size) {
  struct Setting {
    int slots;
    double units;
    bool is_short;
  };
  for (const auto [slots, units, is_short] :
       {Setting{4, 15, true}, {4, 30, false}, {16, 15, true}, {16, 30, false}, {8, 120, false}}) {
    const std::string name = "formula_" + std::to_string(slots) + "_slots_" + std::to_string(static_cast<int>(units));
    Compare(figures, name, size.Of(kDeadlineSeeds, 1), is_short,
            [&](std::uint64_t seed) { return FormulaRace(slots, units, seed); });
    if (size.small) break;
  }
  const auto families = [&](Scope scope) {
    return MeanOf(size.Of(kDeadlineSeeds, 1), "hypersched", "grid",
                  [&](std::uint64_t seed) { return FamilyRace(scope, seed); });
  };
  const double alone = families(Scope::kNobody).best;
  figures.Add("families_alone", alone);
  figures.Add("families_shared_ahead", families(Scope::kStudy).best - alone, "> 0");
  const auto curves = size.small ? std::nullopt : ReadCurves("cifar10_3c3d");
  if (!curves) return;
  for (const double seconds : {900.0, 1800.0}) {
    Compare(figures, "cifar_" + std::to_string(static_cast<int>(seconds)), kCifarSeeds, seconds == 900,
            [&](std::uint64_t seed) { return CifarRace(curves->accuracies, seconds, seed); });
  }
}

}  // namespace espalier::bench
