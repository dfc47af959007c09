// Fair share: a team of few trials comes when another's many have all slots, in the simulator; against the same trials
// alone on half of the slots.
#include <string>

#include "base/check.h"
#include "bench/benches.h"
#include "client/tuners/registry.h"
#include "sim/simulated_studies.h"

namespace espalier::bench {
namespace {

constexpr int kContestedSlots = 8;
constexpr Seconds kArrival{1000};

// A grid of so many trials that share nothing, by a team of its own.
sim::StudyToSimulate GridOf(const std::string& name, std::int64_t trials, std::int64_t steps) {
  const auto make_tuner = [=] {
    std::vector<tuners::Candidate> candidates;
    for (std::int64_t i = 1; i <= trials; ++i) {
      candidates.push_back({{{"lr", std::to_string(i) + ".5"}}, std::nullopt});
    }
    return tuners::MakeTuner("grid", {{"steps", Value{steps}}}, {candidates}).value();
  };
  return {.specification = {.name = name,
                            .trainer = "synthetic",
                            .metric = "metric",
                            .undeclared = {{"lr", ValueType::kFloating}}},
          .make_tuner = make_tuner,
          .team = name};
}

sim::SimulatedStudies Simulated(int slots, const std::vector<sim::StudyToSimulate>& studies) {
  const auto simulated = sim::SimulateStudies({.servers = {{.slots = slots}}}, studies);
  ESPALIER_CHECK(simulated.has_value()) << simulated.error().message;
  return *simulated;
}

}  // namespace

void RunFairShare(Figures& figures, Size size) {
  const std::int64_t many = size.Of(1000, 100);
  for (const std::int64_t steps : {40, 400}) {
    const std::string of = "_of_" + std::to_string(steps) + "_steps";
    sim::StudyToSimulate small = GridOf("small", 10, steps);
    const Seconds alone = Simulated(kContestedSlots / 2, {small}).studies[0].end_to_end;
    const sim::StudyToSimulate large = GridOf("large", many, steps);
    const Seconds large_alone = Simulated(kContestedSlots, {large}).studies[0].end_to_end;
    small.arrives_at = kArrival;
    const sim::SimulatedStudies both = Simulated(kContestedSlots, {large, small});
    figures.Add("alone_on_half_seconds" + of, alone.count());
    figures.Add("beside_many_seconds" + of, both.studies[1].end_to_end.count());
    figures.Add("times_as_long" + of, both.studies[1].end_to_end / alone, "<= 1.3");
    const Seconds small_used = both.studies[1].summary.use.device;
    figures.Add("many_later_seconds_a_slot_second" + of,
                (both.studies[0].end_to_end - large_alone) / (small_used / kContestedSlots));
  }
}

}  // namespace espalier::bench
