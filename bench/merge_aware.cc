// ASHA that goes by what trials cost, beside the plain one: the same spaces, in the simulator, where a metric follows
// from a trial's whole sequences.
#include <algorithm>
#include <random>
#include <string>

#include "base/check.h"
#include "bench/benches.h"
#include "client/study_file/study_file.h"
#include "client/tuners/registry.h"
#include "sim/simulated_studies.h"

namespace espalier::bench {
namespace {

constexpr int kSharedSlots = 8;

struct Space {
  std::string name;
  StudyFile file;
  ValueTypes types;
  std::int64_t most = 0;  // steps of a trial
};

Space ReadSpace(const std::string& name) {
  auto file = ReadStudyFile("bench/studies/" + name + ".yaml");
  ESPALIER_CHECK(file.has_value()) << Print(file.error());
  Space space{name, std::move(*file), {}, 0};
  space.types = GuessTypes(space.file, Schema{}).value();
  space.types["draw"] = ValueType::kInteger;
  for (const WrittenValue& value : space.file.written) space.most = std::max(space.most, value.horizon.value);
  return space;
}

struct Outcome {
  double trained = 0;  // steps
  double best = 0;
};

// `draw`: another one, and every trial is worth something else, and comes at another place.
Outcome Run(const Space& space, std::int64_t draw, bool merge_aware) {
  const tuners::Options options{{"min", std::max<std::int64_t>(1, space.most / 8)},
                                {"max", space.most},
                                {"reduction", std::int64_t{2}},
                                {"merge_aware", merge_aware}};
  tuners::Trials trials{.candidates = space.file.candidates};
  for (tuners::Candidate& candidate : trials.candidates) candidate.sequences["draw"] = std::to_string(draw + 1);
  std::shuffle(trials.candidates.begin(), trials.candidates.end(), std::mt19937_64(static_cast<std::uint64_t>(draw)));
  const auto make_tuner = [&] { return tuners::MakeTuner("asha", options, trials).value(); };
  const sim::ServiceToSimulate service{.servers = {{.slots = kSharedSlots}}, .seed = static_cast<std::uint64_t>(draw)};
  sim::StudyToSimulate study{.specification = {}, .make_tuner = make_tuner};
  study.specification = {.name = space.name,
                         .trainer = "synthetic",
                         .metric = space.file.specification.metric,
                         .goal = Goal::kMaximize,
                         .scope = Scope::kStudy,
                         .undeclared = space.types,
                         .tuner = "asha",
                         .asks_for_idle_slots = true};
  const Result<sim::SimulatedStudy> simulated = sim::SimulateStudy(service, study);
  ESPALIER_CHECK(simulated.has_value()) << simulated.error().message;
  return {static_cast<double>(simulated->summary.steps.trained), simulated->summary.best.value().value};
}

}  // namespace

void RunMergeAware(Figures& figures, Size size) {
  const std::vector<std::string> names = {"first-1",  "first-2",  "first-3",  "first-4",           "first-5",
                                          "second-1", "second-2", "second-3", "mobilenet-v2-grid", "resnet56-asha"};
  std::vector<double> saved;
  for (const std::string& name : size.small ? std::vector<std::string>{"first-1"} : names) {
    const Space space = ReadSpace(name);
    std::vector<double> plain_steps;
    std::vector<double> aware_steps;
    std::vector<double> gains;
    for (std::int64_t draw = 0; draw < size.Of(30, 2); ++draw) {
      const Outcome plain = Run(space, draw, false);
      const Outcome aware = Run(space, draw, true);
      plain_steps.push_back(plain.trained);
      aware_steps.push_back(aware.trained);
      gains.push_back(aware.best - plain.best);
    }
    saved.push_back(1 - Mean(aware_steps) / Mean(plain_steps));
    figures.Add(name + "_steps", Mean(plain_steps));
    figures.Add(name + "_saved", saved.back());
    figures.Add(name + "_best_gained", Mean(gains));
    figures.Add(name + "_best_gained_error", StandardError(gains));
  }
  figures.Add("saved", Mean(saved));
}

}  // namespace espalier::bench
