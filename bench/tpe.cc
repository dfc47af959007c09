// TPE on three functions whose least value is known, here and in Optuna: how far the best of so many trials is from it.
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "bench/benches.h"
#include "bench/copy_rate.h"
#include "bench/output_of.h"
#include "client/space/sampling.h"
#include "client/tuners/registry.h"

namespace espalier::bench {
namespace {

using tuners::StartTrial;

double NumberOf(const TrialText& trial, const std::string& name) { return std::stod(trial.at(name)); }

// L. Dixon, G. Szegoe, Towards Global Optimisation 2, 1978.
double Branin(const TrialText& trial) {
  const double x = NumberOf(trial, "x");
  const double y = NumberOf(trial, "y");
  const double pi = std::numbers::pi;
  const double bent = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return bent * bent + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}

// J. Hartmann, Some Experiments in Global Optimization, 1972: six dimensions.
double Hartmann6(const TrialText& trial) {
  constexpr std::array<double, 4> kHeights = {1, 1.2, 3, 3.2};
  constexpr double kWidths[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double kPlaces[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                    {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                    {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                    {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double sum = 0;
  for (std::size_t i = 0; i < kHeights.size(); ++i) {
    double off = 0;
    for (std::size_t j = 0; j < 6; ++j) {
      const double from = NumberOf(trial, "x" + std::to_string(j)) - kPlaces[i][j];
      off += kWidths[i][j] * from * from;
    }
    sum += kHeights[i] * std::exp(-off);
  }
  return -sum;
}

// A training in small: a rate over five decades whose best depends on the optimizer, a depth, and a share.
double Mixed(const TrialText& trial) {
  const bool sgd = trial.at("optimizer") == "\"sgd\"";
  const double rate = std::log10(NumberOf(trial, "lr")) - (sgd ? -1 : -3);
  const double depth = (NumberOf(trial, "depth") - 12) / 10;
  const double share = NumberOf(trial, "share") - 0.3;
  const double penalty = sgd ? 0.1 : trial.at("optimizer") == "\"adam\"" ? 0 : 0.4;
  return rate * rate / 2 + depth * depth + 2 * share * share + penalty;
}

struct TpeProblem {
  std::string name;
  SearchSpace space;
  double (*at)(const TrialText&);
  double least = 0;
};

std::vector<TpeProblem> Problems() {
  TpeProblem hartmann{"hartmann6", {}, Hartmann6, -3.32237};
  for (int i = 0; i < 6; ++i) hartmann.space.lists.push_back({"x" + std::to_string(i), {"uniform(0, 1)"}});
  return {{"branin", {{{"x", {"uniform(-5, 10)"}}, {"y", {"uniform(0, 15)"}}}}, Branin, 0.397887},
          hartmann,
          {"mixed",
           {{{"lr", {"loguniform(1e-5, 1)"}},
             {"depth", {"integer(1, 30)"}},
             {"share", {"uniform(0, 1)"}},
             {"optimizer", {"\"sgd\"", "\"adam\"", "\"rmsprop\"", "\"adagrad\""}}}},
           Mixed,
           0}};
}

// One trial after the other; how far the best is from the least value.
double Regret(const TpeProblem& problem, std::int64_t trial_count, std::int64_t seed, SamplingMethod method) {
  const Sampling sampling{.trials = static_cast<std::size_t>(trial_count), .seed = seed, .method = method};
  tuners::Trials trials{.from_space = sampling.trials, .space = problem.space, .sampling = sampling};
  for (TrialText& text : Sample(problem.space, sampling)) trials.candidates.push_back({std::move(text), std::nullopt});
  const auto tuner =
      tuners::MakeTuner("tpe", {{"steps", std::int64_t{1}}, {"open_trials", std::int64_t{1}}}, std::move(trials))
          .value();
  double best = INFINITY;
  std::vector<tuners::Action> actions = tuner->Start();
  for (std::size_t trial = 0; trial < sampling.trials; ++trial) {
    double value = INFINITY;
    for (const tuners::Action& action : actions) {
      if (const auto* start = std::get_if<StartTrial>(&action)) value = problem.at(start->sequences);
    }
    best = std::min(best, value);
    actions = tuner->OnEvent(tuners::ClaimOutcome{trial, Step{1}, tuners::Measured{value}});
  }
  return best - problem.least;
}

double MedianRegret(const TpeProblem& problem, std::int64_t trials, std::int64_t seeds, SamplingMethod method) {
  std::vector<double> regrets;
  for (std::int64_t seed = 0; seed < seeds; ++seed) regrets.push_back(Regret(problem, trials, seed, method));
  return Median(regrets);
}

// The program prints the median regret.
double OptunaRegret(const std::string& problem, std::int64_t trials, std::int64_t seeds) {
  return std::stod(OutputOfScript("ESPALIER_OPTUNA_PYTHON", "ESPALIER_OPTUNA_TPE",
                                  {problem, std::to_string(trials), std::to_string(seeds)}));
}

}  // namespace

void RunTpe(Figures& figures, Size size) {
  const std::int64_t trials = size.Of(100, 20);
  const std::int64_t seeds = size.Of(20, 2);
  for (const TpeProblem& problem : Problems()) {
    const double ours = MedianRegret(problem, trials, seeds, SamplingMethod::kTpe);
    const double theirs = OptunaRegret(problem.name, trials, seeds);
    figures.Add(problem.name + "_regret", ours);
    figures.Add(problem.name + "_regret_at_random", MedianRegret(problem, trials, seeds, SamplingMethod::kRandom));
    figures.Add(problem.name + "_regret_of_optuna", theirs);
    figures.Add(problem.name + "_regret_against_optuna", ours / theirs, "<= 1.2");
  }
}

}  // namespace espalier::bench
