// How soon the scheduler's policies end a study, in virtual time: side by side as in the thesis's figure 6.4, and
// beside what no schedule could undercut.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/benches.h"
#include "bench/servers_of_eight.h"
#include "bench/space_of_functions.h"
#include "scheduler/policy.h"

namespace espalier::bench {
namespace {

constexpr std::int64_t kMakespanSeeds = 30;
constexpr std::int64_t kAshaSeeds = 150;  // of 30, chance decides as much as policies

// Those of the thesis, none of which batches stages there (6.3), and ours.
const std::vector<std::string> kPolicies = {
    "critical_path",           "critical_path_not_preempting",  "critical_path_unbatched",
    "breadth_first_unbatched", "throughput_children_unbatched", "throughput_unbatched",
    "breadth_first",           "throughput_children",           "throughput"};

// Each policy's time over that of the first, with the same seeds: means, and the standard error of that of ASHA's,
// whose trials are others under each policy. None of the others is to be ahead; and of the slots' time, the part in
// which they train under the first.
void ComparePolicies(Figures& figures, const std::string& tuner, std::size_t servers, std::int64_t seeds) {
  const sim::StudyToSimulate study = ReadStudy("policies-" + tuner);
  const std::vector<double> speeds(servers, 1);
  const std::string prefix = tuner + "_" + std::to_string(8 * servers) + "_slots_";
  std::vector<double> first;
  for (const std::string& policy : kPolicies) {
    std::vector<double> hours;
    std::vector<double> shares_busy;
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
      const sim::SimulatedStudies simulated = SimulateOn({study}, {.seed = seed, .policy = policy, .speeds = speeds});
      hours.push_back(simulated.end_to_end.count() / 3600);
      shares_busy.push_back(simulated.slot_time / simulated.end_to_end / static_cast<double>(8 * servers));
    }
    figures.Add(prefix + policy + "_hours", Mean(hours));
    if (first.empty()) {
      first = hours;
      figures.Add(prefix + "share_of_time_busy", Mean(shares_busy));
      continue;
    }
    std::vector<double> ratios;
    for (std::size_t i = 0; i < hours.size(); ++i) ratios.push_back(hours[i] / first[i]);
    const std::string name = prefix + policy + "_over_critical_path";
    figures.Add(name, Mean(hours) / Mean(first), policy.starts_with("critical_path") ? ">= 0.99" : ">= 1");
    figures.Add(name + "_error", StandardError(ratios));
  }
}

struct Tuned {
  std::string name;
  std::string tuner;
  std::string goal;
};
const std::vector<Tuned> kTuned = {{"grid", "{grid: {steps: 120}}", "<= 1.05"},
                                   {"sha", "{sha: {min: 15, max: 120, reduction: 4}}", "<= 1.10"}};

sim::StudyToSimulate SpaceOf(const Tuned& tuned, std::int64_t seed) {
  return ParseStudy(SpaceOfFunctions(static_cast<std::uint64_t>(seed), tuned.tuner));
}

// Of as many spaces as seeds. What is to be reached is the default policy's.
void CompareWithBound(Figures& figures, const Tuned& tuned, const std::string& policy, Size size) {
  std::vector<double> ratios;
  for (std::int64_t seed = 1; seed <= size.Of(kMakespanSeeds, 2); ++seed) {
    const sim::SimulatedStudies simulated = SimulateOn({SpaceOf(tuned, seed)}, {.seed = seed, .policy = policy});
    ratios.push_back(simulated.end_to_end / simulated.bound);
  }
  const std::string name = tuned.name + "_" + policy + "_over_bound";
  figures.Add(name, Mean(ratios), policy == kDefaultPolicy ? tuned.goal : "");
  figures.Add(name + "_max", *std::max_element(ratios.begin(), ratios.end()));
}

// What a better placement gains, or could gain at most.
struct Improvement {
  std::string name;
  ServersOfEight before;
  ServersOfEight after;
  bool is_known_after = false;  // what steps of each batch size take was measured before the study came
};

// The larger the batch, the shorter is an epoch; of `step` at 128.
sim::StepDemands ByBatchSize(Seconds step) {
  return [step](const worker::Values& values) {
    const auto batch = std::get<std::int64_t>(values.at("bs"));
    return sim::StepDemand{.step = step * (batch <= 128 ? 1.0 : batch <= 256 ? 0.75 : 0.625)};
  };
}

const char* const kEachBatchSize = R"yaml(study: before
trainer: synthetic
step: epoch
hyper_parameters: {lr: [0.1], bs: [128, 256, 512], momentum: [0.9], weight_decay: [0.0001]}
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 1}}
share: nobody
)yaml";

std::vector<Improvement> Improvements(Seconds step) {
  const ServersOfEight usual{.durations = UsualWithSteps(step)};
  ServersOfEight not_preempting = usual;
  not_preempting.policy = "critical_path_not_preempting";
  ServersOfEight no_loads = usual;
  no_loads.durations.load = no_loads.durations.fetch = Seconds(0);
  ServersOfEight no_latency = usual;
  no_latency.durations.network = no_latency.durations.commit = Seconds(0);
  ServersOfEight slow_first = usual;
  slow_first.speeds = {1, 1, 1, 2, 2};
  ServersOfEight fast_first = usual;
  fast_first.speeds = {2, 2, 1, 1, 1};
  ServersOfEight by_batch_size = usual;
  by_batch_size.demands = ByBatchSize(step);
  return {{"even_end", not_preempting, usual},
          {"no_loads", usual, no_loads},
          {"no_latency", usual, no_latency},
          {"fastest_slot", slow_first, fast_first},
          {"profiles", by_batch_size, by_batch_size, true}};
}

// How long the study takes.
Seconds TimeOfSpace(const Tuned& tuned, const ServersOfEight& service, bool is_known) {
  std::vector<sim::StudyToSimulate> studies = {SpaceOf(tuned, service.seed)};
  if (is_known) {
    studies.front().arrives_at = std::chrono::hours{1};
    studies.insert(studies.begin(), ParseStudy(kEachBatchSize));
  }
  return SimulateOn(studies, service).studies.back().end_to_end;
}

void Gain(Figures& figures, const Tuned& tuned, const std::string& steps, const Improvement& improvement, Size size) {
  std::vector<double> gains;
  for (std::int64_t seed = 1; seed <= size.Of(kMakespanSeeds, 1); ++seed) {
    ServersOfEight before = improvement.before;
    ServersOfEight after = improvement.after;
    before.seed = after.seed = seed;
    gains.push_back(1 - TimeOfSpace(tuned, after, improvement.is_known_after) / TimeOfSpace(tuned, before, false));
  }
  figures.Add(tuned.name + "_" + steps + "_" + improvement.name + "_gain", Mean(gains));
}

}  // namespace

void RunMakespan(Figures& figures, Size size) {
  for (const Tuned& tuned : kTuned) {
    for (const char* policy : {"critical_path", "critical_path_not_preempting"}) {
      CompareWithBound(figures, tuned, policy, size);
    }
  }
  ComparePolicies(figures, "grid", 5, size.Of(kMakespanSeeds, 1));
  for (const std::size_t servers : {1, 2, 5}) ComparePolicies(figures, "asha", servers, size.Of(kAshaSeeds, 1));
  for (const Tuned& tuned : kTuned) {
    for (const Improvement& each : Improvements(Seconds(60))) Gain(figures, tuned, "minutes", each, size);
    for (const Improvement& each : Improvements(Seconds(1))) Gain(figures, tuned, "seconds", each, size);
  }
}

}  // namespace espalier::bench
