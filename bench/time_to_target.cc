// Policies that end what is not worth going on with, in the simulator, on a workload as HyperDrive's own (section 6):
// configurations come in random order to few slots; how long until the first of them is as good as is wanted.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "bench/benches.h"
#include "bench/recorded_curves.h"
#include "bench/service.h"
#include "client/tuners/registry.h"
#include "sim/simulated_studies.h"

namespace espalier::bench {
namespace {

constexpr std::int64_t kTargetOrders = 25;
constexpr std::size_t kConfigurations = 100;
constexpr int kTargetSlots = 4;
constexpr Seconds kLongest = std::chrono::hours(50);
constexpr double kHour = 3600;

// Hours until some trial's accuracy is the target, or until none may go on: then all of those that there are.
double HoursToTarget(const std::vector<std::vector<double>>& accuracies, double target, const std::string& policy,
                     std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> order(accuracies.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::shuffle(order, random);
  std::vector<tuners::Candidate> candidates;
  for (std::size_t i = 0; i < std::min(kConfigurations, order.size()); ++i) {
    candidates.push_back({{{"curve", std::to_string(order[i])}}, std::nullopt});
  }
  const auto steps = std::ssize(accuracies[0]) - 1;
  const sim::StudyToSimulate study{
      .specification = {.name = "study",
                        .trainer = "curves",
                        .evaluate_every = 1,
                        .stop = {.after = kLongest, .device_time = std::nullopt, .metric = target},
                        .metric = "accuracy",
                        .scope = Scope::kNobody,
                        .undeclared = {{"curve", ValueType::kInteger}},
                        .policy = {.may_stop = true}},
      .make_tuner = [=] {
        return tuners::MakeTuner("grid", {{"steps", Value{steps}}}, {candidates}).value();
      }};
  double hours = kLongest.count() / kHour;
  sim::ServiceToSimulate service{.servers = {{.slots = kTargetSlots}}, .seed = seed, .policy = policy};
  service.durations.train = std::chrono::minutes(1);
  service.durations.vary = false;  // or estimates would, and with them the order in which trials begin
  service.measures.score = [&](const worker::Values& values, Step step) {
    return accuracies[NumberIn(values, "curve")].at(static_cast<std::size_t>(step.value));
  };
  service.measured = [&](const Metrics& metrics, Seconds at) {
    if (metrics.at("accuracy") >= target) hours = std::min(hours, at.count() / kHour);
  };
  const auto simulated = sim::SimulateStudies(service, {study});
  if (!simulated.has_value()) GiveUp(simulated.error().message);
  return hours;
}

}  // namespace

void RunTimeToTarget(Figures& figures, Size size) {
  std::vector<std::vector<double>> accuracies;
  if (const auto curves = size.small ? std::nullopt : ReadCurves("cifar10_3c3d")) {
    accuracies = curves->accuracies;
  } else {  // made up
    for (int curve = 0; curve < 20; ++curve) {
      accuracies.emplace_back();
      for (int step = 0; step <= 40; ++step)
        accuracies.back().push_back((1 - std::pow(0.9, step)) * (80 + curve) / 100);
    }
  }
  for (const auto& [name, target] : {std::pair{"84", 0.84}, {"85", 0.85}}) {
    std::map<std::string, std::vector<double>> hours;
    for (const char* policy : {"critical_path_not_preempting", "early_term_last_value", "bandit"}) {
      for (std::int64_t seed = 1; seed <= size.Of(kTargetOrders, 1); ++seed) {
        hours[policy].push_back(HoursToTarget(accuracies, target, policy, static_cast<std::uint64_t>(seed)));
      }
      const std::vector<double>& all = hours[policy];
      const std::string figure = std::string("accuracy_") + name + "_" + policy;
      figures.Add(figure + "_hours", Mean(all));
      figures.Add(figure + "_spread_hours", *std::ranges::max_element(all) - *std::ranges::min_element(all));
    }
    figures.Add(std::string("accuracy_") + name + "_bandit_times_sooner_than_critical_path",
                Mean(hours["critical_path_not_preempting"]) / Mean(hours["bandit"]), "> 1");
  }
}

}  // namespace espalier::bench
