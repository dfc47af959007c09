#include "client/tuners/one_by_one.h"

#include "client/tuners/stopping.h"

namespace espalier::tuners {
namespace {

// What it starts goes on to its end.
class OneByOne : public StoppingTuner {
 public:
  OneByOne(std::vector<StartTrial> trials, std::optional<std::size_t> open_trials)
      : StoppingTuner(std::move(trials), open_trials) {}

 private:
  bool Stops(std::size_t, std::size_t, const Outcome&) override { return false; }
};

}  // namespace

Result<std::unique_ptr<Tuner>> MakeOneByOne(const Options& options, Trials given) {
  ESPALIER_ASSIGN(const Step steps, StepOption(options, "steps", Step{1}));
  ESPALIER_ASSIGN(const std::optional<std::size_t> open_trials, OpenTrialsOption(options));
  std::vector<StartTrial> trials;
  for (Candidate& candidate : given.candidates) {
    const Step last = candidate.steps.value_or(steps);
    trials.push_back({.sequences = std::move(candidate.sequences), .steps = last, .horizon = last});
  }
  return std::make_unique<OneByOne>(std::move(trials), open_trials);
}

}  // namespace espalier::tuners
