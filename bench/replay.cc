// How near the simulator comes to what really happened: real studies on two slots, exported as traces and replayed.
#include "client/simulation/replay.h"

#include <fstream>
#include <string>

#include "bench/benches.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "client/simulation/trace.h"

namespace espalier::bench {
namespace {

constexpr int kReplayedSlots = 2;

// Four rates, each with as many decays, in rungs; the trials of a rate are one for half of their first rung. None finds
// anything that another study trained: a replay begins with nothing.
std::string StudyToReplay(const std::string& name, const std::string& trainer, const std::string& tuner,
                          std::int64_t first_rung) {
  std::string rates;
  for (const char* rate : {"0.05", "0.1", "0.2", "0.3"}) {
    for (const char* gamma : {"0.1", "0.3", "0.5", "0.7"}) {
      rates += std::string(rates.empty() ? "" : ", ") + "\"MultiStep(" + rate + ", [" + std::to_string(first_rung / 2) +
               "], gamma=" + gamma + ")\"";
    }
  }
  return "study: " + name + "\n" + trainer + "  lr: [" + rates +
         "]\nmetric: {name: test_acc, goal: max}\nshare: study\ntuner: {" + tuner + "}\n";
}

struct Ends {
  double really = 0;
  double replayed = 0;
};

Ends Measure(const Service& service, const std::string& name, const std::string& text) {
  const auto espalier = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ProgramBesideThisOne("espalier"));
    arguments.insert(arguments.end(), {"--server", service.address()});
    if (!OutputOf(arguments)) GiveUp("espalier " + arguments[1] + " " + arguments[2] + " failed");
  };
  const std::string file = service.NewFile(name + ".yaml");
  const std::string trace_file = service.NewFile(name + ".trace");
  std::ofstream(file) << text;
  espalier({"study", "run", file});
  espalier({"study", "export", name, "--trace", trace_file});
  const auto trace = ReadTraceFile(trace_file);
  if (!trace.has_value()) GiveUp(Print(trace.error()));
  const Replay replay = Need(ReplayOf(*trace));
  sim::ServiceToSimulate simulated{
      .servers = replay.servers, .durations = replay.durations, .policy = trace->head.policy};
  simulated.measures.recorded = &replay.recorded;
  const sim::SimulatedStudies replayed = Need(sim::SimulateStudies(simulated, replay.studies));
  const TracedStudy& study = trace->studies.front();
  return {.really = (study.ended - study.arrived).count(), .replayed = replayed.end_to_end.count()};
}

}  // namespace

void RunReplay(Figures& figures, Size size) {
  Service service;
  service.StartNodeManager(kReplayedSlots);
  const std::int64_t rung = size.Of(16, 2);
  const std::string steps = "min: " + std::to_string(rung) + ", max: " + std::to_string(4 * rung) + ", reduction: 2";
  const std::string synthetic =
      "trainer: synthetic\nhyper_parameters:\n  step_seconds: " + std::string(size.small ? "0.01" : "0.1") + "\n";
  const std::string mlp = "trainer: mlp\ndata: digits\nstep: " + std::string(size.small ? "1 update" : "400 updates") +
                          "\nhyper_parameters:\n  bs: 64\n";
  const std::vector<std::pair<std::string, std::string>> studies{
      {"synthetic_sha", StudyToReplay("synthetic_sha", synthetic, "sha: {" + steps + "}", rung)},
      {"synthetic_asha", StudyToReplay("synthetic_asha", synthetic, "asha: {" + steps + "}", rung)},
      {"mlp_sha", StudyToReplay("mlp_sha", mlp, "sha: {" + steps + "}", rung)}};
  for (const auto& [name, text] : studies) {
    const Ends ends = Measure(service, name, text);
    figures.Add(name + "_really_seconds", ends.really);
    figures.Add(name + "_replayed_seconds", ends.replayed);
    figures.Add(name + "_percent_more", 100 * (ends.replayed / ends.really - 1), "-5 to 5");
  }
}

}  // namespace espalier::bench
