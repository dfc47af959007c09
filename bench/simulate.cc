// How long the simulator takes for many trials on many slots, in time of the one processor that it uses.
#include <ctime>
#include <string>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/servers_of_eight.h"

namespace espalier::bench {
namespace {

constexpr int kSlotsOfServer = 8;
constexpr int kStepsOfTrial = 6;

// A grid of `count` constants, each with ten branches at step 2, each of those with 100 at step 4: six steps a trial,
// merge rate 2.97.
std::string ManyTrials(std::int64_t count) {
  std::string text = "study: many\ntrainer: synthetic\nstep: epoch\nhyper_parameters:\n  lr:\n";
  for (std::int64_t i = 1; i <= count; ++i) text += "    - " + std::to_string(i) + "\n";
  text += "  bs:\n";
  for (int i = 1; i <= 10; ++i) text += "    - Piecewise([128, " + std::to_string(i) + "], [2])\n";
  text += "  momentum:\n";
  for (int i = 1; i <= 100; ++i) text += "    - Piecewise([0, 0." + std::to_string(100 + i) + "], [4])\n";
  return text + "metric: {name: test_acc, goal: max}\ntuner: {grid: {steps: " + std::to_string(kStepsOfTrial) +
         "}}\nshare: team\n";
}

}  // namespace

void RunSimulate(Figures& figures, Size size) {
  const std::int64_t constants = size.Of(100, 1);
  const std::int64_t servers = size.Of(1250, 5);
  const sim::StudyToSimulate study = ParseStudy(ManyTrials(constants));
  sim::ServiceToSimulate service{
      .servers = std::vector<sim::SimulatedServer>(static_cast<std::size_t>(servers), {.slots = kSlotsOfServer})};
  service.durations.train = Seconds(60);
  const std::clock_t begun = std::clock();
  const Result<sim::SimulatedStudies> simulated = sim::SimulateStudies(service, {study});
  const double took = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  ESPALIER_CHECK(simulated.has_value()) << simulated.error().message;
  figures.Add("trials", static_cast<double>(constants * 1000));
  figures.Add("slots", static_cast<double>(servers * kSlotsOfServer));
  figures.Add("steps_trained", static_cast<double>(simulated->steps.trained));
  figures.Add("virtual_hours", simulated->end_to_end.count() / 3600);
  figures.Add("processor_seconds", took, "minutes");
  figures.Add("ms_a_trial", took * 1000 / static_cast<double>(constants * 1000));
}

}  // namespace espalier::bench
