// Saving on the way, in the simulator: what saves and steps trained once more cost together where Espalier chooses by
// costs which states runs save as they pass, against the best fixed period, found afterwards.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/benches.h"
#include "bench/forty_slots.h"
#include "bench/space_of_functions.h"

namespace espalier::bench {
namespace {

constexpr std::int64_t kSpaces = 10;

// How long a step takes, and the save of a state.
struct Mix {
  std::string name;
  Seconds step;
  Seconds save;
};
const std::vector<Mix> kMixes = {
    {"light", Seconds(60), Seconds(1)}, {"even", Seconds(1), Seconds(1)}, {"heavy", Seconds(1), Seconds(20)}};
const std::vector<std::int64_t> kPeriods = {1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 60, 120};

// Of all spaces: trials of one study go on at different times, from wherever they part from what was trained before.
Seconds Cost(const Mix& mix, std::int64_t save_every_steps, Size size) {
  Seconds cost{0};
  for (std::int64_t seed = 1; seed <= size.Of(kSpaces, 1); ++seed) {
    const sim::StudyToSimulate study =
        ParseStudy(SpaceOfFunctions(static_cast<std::uint64_t>(seed), "{asha: {min: 15, max: 120, reduction: 4}}"));
    FortySlots service{.seed = seed, .durations = UsualWithSteps(mix.step), .save_every_steps = save_every_steps};
    service.durations.save = mix.save;
    const sim::SimulatedStudies simulated = SimulateOnFortySlots({study}, service);
    const std::int64_t again = simulated.studies.front().summary.steps.re_derived;
    cost += static_cast<double>(simulated.steps.saved) * mix.save + static_cast<double>(again) * mix.step;
  }
  return cost;
}

}  // namespace

void RunSaving(Figures& figures, Size size) {
  for (const Mix& mix : kMixes) {
    const Seconds ours = Cost(mix, 0, size);
    Seconds best = Cost(mix, kPeriods.front(), size);
    std::int64_t best_period = kPeriods.front();
    for (const std::int64_t period : kPeriods) {
      const Seconds cost = Cost(mix, period, size);
      if (cost < best) best_period = period;
      best = std::min(best, cost);
    }
    figures.Add(mix.name + "_hours", ours.count() / 3600);
    figures.Add(mix.name + "_best_period_steps", static_cast<double>(best_period));
    figures.Add(mix.name + "_over_best_period", ours / best, "<= 1.1");
  }
}

}  // namespace espalier::bench
