// Saving on the way, in the simulator: what saves and steps trained once more cost together where Espalier chooses by
// costs which states runs save as they pass, against the best fixed period, found afterwards. Workers are killed, each
// about once a day.
#include <string>
#include <vector>

#include "bench/benches.h"
#include "bench/servers_of_eight.h"
#include "bench/space_of_functions.h"

namespace espalier::bench {
namespace {

constexpr std::int64_t kSpaces = 150;  // of thirty, courses of ASHA alone differ by a twentieth

// How long a step takes, and the save of a state.
struct Mix {
  std::string name;
  Seconds step;
  Seconds save;
};
const std::vector<Mix> kMixes = {
    {"light", Seconds(60), Seconds(1)}, {"even", Seconds(1), Seconds(1)}, {"heavy", Seconds(1), Seconds(20)}};
const std::vector<std::int64_t> kPeriods = {1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 60, 120};

// What comes of one way to save, over all spaces.
struct MixOutcome {
  std::int64_t saved = 0;  // states, those that claims and branches need among them
  std::int64_t again = 0;  // steps that were trained once more
  Seconds cost{0};
};

// Trials of one study go on at different times, from wherever they part from what was trained before.
MixOutcome SimulatedMix(const Mix& mix, std::int64_t save_every_steps, Size size) {
  MixOutcome outcome;
  for (std::int64_t seed = 1; seed <= size.Of(kSpaces, 1); ++seed) {
    const sim::StudyToSimulate study =
        ParseStudy(SpaceOfFunctions(static_cast<std::uint64_t>(seed), "{asha: {min: 15, max: 120, reduction: 4}}"));
    ServersOfEight service{.seed = seed,
                           .durations = UsualWithSteps(mix.step),
                           .policy = "critical_path_not_preempting",  // which saves nothing besides
                           .save_every_steps = save_every_steps,
                           .workers_fail = true};
    service.durations.save = mix.save;
    const sim::SimulatedStudies simulated = SimulateOn({study}, service);
    outcome.saved += simulated.steps.saved;
    outcome.again += simulated.studies.front().summary.steps.re_derived;
  }
  outcome.cost = static_cast<double>(outcome.saved) * mix.save + static_cast<double>(outcome.again) * mix.step;
  return outcome;
}

void AddOutcome(Figures& figures, const std::string& name, const MixOutcome& outcome) {
  figures.Add(name + "_states_saved", static_cast<double>(outcome.saved));
  figures.Add(name + "_steps_again", static_cast<double>(outcome.again));
  figures.Add(name + "_hours", outcome.cost.count() / 3600);
}

}  // namespace

void RunSaving(Figures& figures, Size size) {
  for (const Mix& mix : kMixes) {
    const MixOutcome ours = SimulatedMix(mix, 0, size);
    MixOutcome best;
    std::int64_t best_period = 0;
    for (const std::int64_t period : kPeriods) {
      const MixOutcome outcome = SimulatedMix(mix, period, size);
      if (best_period > 0 && outcome.cost >= best.cost) continue;
      best = outcome;
      best_period = period;
    }
    AddOutcome(figures, mix.name, ours);
    figures.Add(mix.name + "_best_period_steps", static_cast<double>(best_period));
    AddOutcome(figures, mix.name + "_best_period", best);
    figures.Add(mix.name + "_over_best_period", ours.cost / best.cost, "<= 1.1");
  }
}

}  // namespace espalier::bench
