#include "client/tuners/median_stopping.h"

#include <algorithm>
#include <map>

#include "client/tuners/rungs.h"
#include "client/tuners/stopping.h"

namespace espalier::tuners {
namespace {

constexpr std::int64_t kLooksMax = 1000;  // beyond the first: as many as a new trial may claim
constexpr std::size_t kTrialsMin = 5;

struct Rules {
  Step every;
  Step grace;
  std::size_t trials_min = kTrialsMin;
};

class MedianStopping : public StoppingTuner {
 public:
  MedianStopping(std::vector<StartTrial> trials, std::optional<std::size_t> open_trials, const Rules& rules)
      : StoppingTuner(trials, open_trials), rules_(rules), trials_(std::move(trials)), reached_(trials_.size()) {}

 private:
  // Of a trial, so far.
  struct Reached {
    double best = 0;
    double sum = 0;
  };

  bool Stops(std::size_t trial, std::size_t claim, const Outcome& outcome) override {
    const auto* measured = std::get_if<Measured>(&outcome);
    if (measured == nullptr) return true;
    Reached& reached = reached_[trial];
    const double value = measured->value;
    if (claim == 0 || Better(Measured{value}, Measured{reached.best})) reached.best = value;
    reached.sum += value;
    const Step at = claim == 0 ? trials_[trial].steps : trials_[trial].more[claim - 1];
    std::vector<double>& means = means_[at];
    const bool is_compared = at >= rules_.grace && means.size() >= rules_.trials_min;
    const bool stops = is_compared && Better(Measured{MedianOf(means)}, Measured{reached.best});
    const double mean = reached.sum / static_cast<double>(claim + 1);
    means.insert(std::lower_bound(means.begin(), means.end(), mean, Precedes), mean);
    return stops;
  }

  static bool Precedes(double a, double b) { return Better(Measured{a}, Measured{b}); }

  // REQUIRES: there are some, the best first.
  static double MedianOf(const std::vector<double>& values) {
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  Rules rules_;
  std::vector<StartTrial> trials_;
  std::vector<Reached> reached_;               // by trial
  std::map<Step, std::vector<double>> means_;  // of those that were measured there, the best first
};

Result<std::unique_ptr<Tuner>> MakeMedianStopping(const Options& options, Trials given) {
  ESPALIER_ASSIGN(const Step steps, StepOption(options, "steps", Step{1}));
  Rules rules;
  ESPALIER_ASSIGN(rules.every, StepOption(options, "every", Step{1}));
  rules.grace = rules.every;
  if (options.contains("grace")) {
    ESPALIER_ASSIGN(rules.grace, StepOption(options, "grace", Step{0}));
  }
  if (options.contains("min_trials")) {
    ESPALIER_ASSIGN(const std::int64_t trials_min, WholeOption(options, "min_trials", 1));
    rules.trials_min = static_cast<std::size_t>(trials_min);
  }
  ESPALIER_ASSIGN(const std::optional<std::size_t> open_trials, OpenTrialsOption(options));
  std::vector<StartTrial> trials;
  for (Candidate& candidate : given.candidates) {
    const Step end = candidate.steps.value_or(steps);
    if (end.value / rules.every.value > kLooksMax) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "got " + std::to_string(rules.every.value) + "; expected at least " +
                           std::to_string(end.value / kLooksMax + 1) + ": a trial of " + std::to_string(end.value) +
                           " steps is looked at " + std::to_string(kLooksMax) + " times at most",
                       "every");
    }
    StartTrial trial{std::move(candidate.sequences), std::min(rules.every, end), end};
    for (Step at = trial.steps; at < end;) {
      at = std::min(at + rules.every.value, end);
      trial.more.push_back(at);
    }
    trials.push_back(std::move(trial));
  }
  return std::make_unique<MedianStopping>(std::move(trials), open_trials, rules);
}

}  // namespace

TunerKind MedianStoppingKind() {
  return {.name = "median",
          .version = 1,
          .starting = Starting::kOneByOne,
          .option_names = {"steps", "every", "grace", "min_trials", "open_trials"},
          .make = MakeMedianStopping};
}

}  // namespace espalier::tuners
