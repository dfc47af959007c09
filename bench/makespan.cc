// How soon the scheduler's policies end a study, in virtual time: side by side as in the thesis's figure 6.4, and
// beside what no schedule could undercut.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/benches.h"
#include "bench/forty_slots.h"
#include "bench/space_of_functions.h"

namespace espalier::bench {
namespace {

constexpr std::int64_t kSeeds = 30;

// Those of the thesis, none of which batches stages there, and ours.
const std::vector<std::string> kPolicies = {
    "critical_path",        "critical_path_unbatched", "breadth_first_unbatched", "throughput_children_unbatched",
    "throughput_unbatched", "breadth_first",           "throughput_children",     "throughput"};

// Each policy's mean time over that of the first, with the same seeds.
void ComparePolicies(Figures& figures, const std::string& tuner, Size size) {
  const sim::StudyToSimulate study = ReadStudy("policies-" + tuner);
  double first = 0;
  for (const std::string& policy : kPolicies) {
    std::vector<double> hours;
    for (std::int64_t seed = 1; seed <= size.Of(kSeeds, 1); ++seed) {
      hours.push_back(SimulateOnFortySlots({study}, {.seed = seed, .policy = policy}).end_to_end.count() / 3600);
    }
    figures.Add(tuner + "_" + policy + "_hours", Mean(hours));
    if (policy == kPolicies.front()) {
      first = Mean(hours);
    } else {
      figures.Add(tuner + "_" + policy + "_over_critical_path", Mean(hours) / first,
                  policy == "critical_path_unbatched" ? ">= 0.99" : ">= 1");
    }
  }
}

// Of as many spaces as seeds.
void CompareWithBound(Figures& figures, const std::string& name, const std::string& tuner, const std::string& goal,
                      Size size) {
  std::vector<double> ratios;
  for (std::int64_t seed = 1; seed <= size.Of(kSeeds, 2); ++seed) {
    const sim::StudyToSimulate study = ParseStudy(SpaceOfFunctions(static_cast<std::uint64_t>(seed), tuner));
    const sim::SimulatedStudies simulated = SimulateOnFortySlots({study}, {.seed = seed});
    ratios.push_back(simulated.end_to_end / simulated.bound);
  }
  figures.Add(name + "_over_bound", Mean(ratios), goal);
  figures.Add(name + "_over_bound_max", *std::max_element(ratios.begin(), ratios.end()));
}

}  // namespace

void RunMakespan(Figures& figures, Size size) {
  for (const char* tuner : {"grid", "asha"}) ComparePolicies(figures, tuner, size);
  CompareWithBound(figures, "grid", "{grid: {steps: 120}}", "<= 1.05", size);
  CompareWithBound(figures, "sha", "{sha: {min: 15, max: 120, reduction: 4}}", "<= 1.10", size);
}

}  // namespace espalier::bench
