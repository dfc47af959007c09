#include "client/tuners/grid.h"

#include <algorithm>

namespace espalier::tuners {
namespace {

class Grid : public Tuner {
 public:
  explicit Grid(std::vector<StartTrial> trials) : trials_(std::move(trials)) {}

  // Nothing depends on a result, so the study is closed as it is submitted; it ends when its claims are settled.
  std::vector<Action> Start() override {
    std::vector<Action> actions(trials_.begin(), trials_.end());
    actions.push_back(FinishStudy{});
    return actions;
  }

  std::vector<Action> OnEvent(const Event&) override { return {}; }

  std::vector<StartTrial> WholeTrials() const override { return trials_; }

 private:
  std::vector<StartTrial> trials_;
};

}  // namespace

Result<std::unique_ptr<Tuner>> MakeGrid(const Options& options, Trials given) {
  const bool all_have_steps = std::all_of(given.candidates.begin(), given.candidates.end(),
                                          [](const Candidate& candidate) { return candidate.steps.has_value(); });
  Step steps{0};
  if (!all_have_steps || options.contains("steps")) {
    ESPALIER_ASSIGN(steps.value, WholeOption(options, "steps", 1));
  }
  std::vector<StartTrial> trials;
  trials.reserve(given.candidates.size());
  for (Candidate& candidate : given.candidates) {
    const Step last = candidate.steps.value_or(steps);
    trials.push_back(StartTrial{.sequences = std::move(candidate.sequences), .steps = last, .horizon = last});
  }
  return std::make_unique<Grid>(std::move(trials));
}

TunerKind GridKind() {
  return {
      .name = "grid", .version = 1, .candidates = CandidateSource::kGiven, .option_names = {"steps"}, .make = MakeGrid};
}

}  // namespace espalier::tuners
