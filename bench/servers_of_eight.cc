#include "bench/servers_of_eight.h"

#include "base/check.h"
#include "client/simulation/study_to_simulate.h"

namespace espalier::bench {
namespace {

constexpr int kSlotsEach = 8;

sim::StudyToSimulate StudyOf(const tl::expected<StudyFile, FileError>& file) {
  ESPALIER_CHECK(file.has_value()) << Print(file.error());
  return StudyToSimulateFrom(*file).value();
}

}  // namespace

sim::StudyToSimulate ReadStudy(const std::string& name) {
  return StudyOf(ReadStudyFile("bench/studies/" + name + ".yaml"));
}

sim::StudyToSimulate ParseStudy(const std::string& text) { return StudyOf(ParseStudyFile("generated.yaml", text)); }

sim::Durations UsualWithSteps(Seconds step) {
  sim::Durations durations = sim::kUsualDurations;
  durations.train = step;
  return durations;
}

sim::SimulatedStudies SimulateOn(const std::vector<sim::StudyToSimulate>& studies, const ServersOfEight& service) {
  const auto seed = static_cast<std::uint64_t>(service.seed);
  sim::ServiceToSimulate to_simulate{.servers = {},
                                     .seed = seed,
                                     .durations = service.durations,
                                     .policy = service.policy,
                                     .save_every_steps = service.save_every_steps,
                                     .workers_fail = service.workers_fail,
                                     .measures = {.seed = seed, .demands = service.demands}};
  for (const double speed : service.speeds) to_simulate.servers.push_back({.slots = kSlotsEach, .speed = speed});
  Result<sim::SimulatedStudies> simulated = sim::SimulateStudies(to_simulate, studies);
  ESPALIER_CHECK(simulated.has_value()) << simulated.error().message;
  return *std::move(simulated);
}

}  // namespace espalier::bench
