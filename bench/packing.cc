// Several trainings on a GPU, in the simulator, on workloads as HyperSack's own (section V): grids of 96 light
// trainings, against one training a GPU; and how quickly many jobs are packed, and how full.
#include "scheduler/packing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iterator>
#include <random>
#include <span>
#include <string>

#include "bench/benches.h"
#include "bench/service.h"
#include "client/tuners/registry.h"
#include "sim/simulated_studies.h"

namespace espalier::bench {
namespace {

constexpr std::int64_t kPackedSteps = 20;
constexpr int kSlotsOfGpu = 32;
constexpr unsigned kOrders = 10;
constexpr std::int64_t kGpuBytes = 80'000'000'000;
constexpr Seconds kSampleTakes{120};  // at most

// Alone, on an A100 at batch 1.
struct Model {
  double utilization = 0;
  double minutes = 0;
};
const std::map<std::string, Model> kModels{{"ShuffleNet", {.22, 6}}, {"MobileNet", {.28, 7}}, {"ViT", {.36, 8}},
                                           {"DeiT", {.36, 8}},       {"ResNet-18", {.38, 6}}, {"ResNet-34", {.45, 9}}};
struct Batch {
  double utilization = 1;
  double minutes = 1;
};
const std::map<std::int64_t, Batch> kBatches{
    {64, {.85, 1.6}}, {128, {.95, 1.2}}, {256, {1.05, .9}}, {512, {1.15, .75}}};

// A kind of GPU: what trainings take of it, compared with an A100.
struct Gpu {
  std::string name;
  double utilization = 1;
  double minutes = 1;
  int compute = 3000;
};
const Gpu kA100{"a100"};
const Gpu kH100{"h100", .62, .8, 2500};

sim::StepDemand DemandOf(const Gpu& gpu, const std::string& model, std::int64_t batch) {
  const Model& of = kModels.at(model);
  const Batch& at = kBatches.at(batch);
  return {.utilization = of.utilization * at.utilization * gpu.utilization,
          .memory_bytes = 2'000'000'000 + batch * 1'000'000'000 / 64,
          .step = Seconds(of.minutes * at.minutes * gpu.minutes * 60) / kPackedSteps};
}

using Candidates = std::vector<tuners::Candidate>;

// One learning rate sequence a training.
Candidates PackedGridOf(const std::vector<std::string>& rates) {
  Candidates candidates;
  for (const auto& [model, of] : kModels) {
    for (const auto& [batch, at] : kBatches) {
      for (const std::string& rate : rates) {
        candidates.push_back(
            {{{"model", '"' + model + '"'}, {"batch", std::to_string(batch)}, {"lr", rate}}, std::nullopt});
      }
    }
  }
  return candidates;
}

sim::StudyToSimulate PackedStudyOf(const std::string& name, const Candidates& candidates, std::int64_t steps,
                                   Scope scope) {
  return {.specification = {.name = name,
                            .trainer = "light",
                            .metric = "metric",
                            .scope = scope,
                            .undeclared = {{"model", ValueType::kText},
                                           {"batch", ValueType::kInteger},
                                           {"lr", ValueType::kFloating}}},
          .make_tuner = [=] {
            return tuners::MakeTuner("grid", {{"steps", Value{steps}}}, {candidates}).value();
          }};
}

struct Fleet {
  Gpu gpu;
  int gpus = 4;
  int slots = kSlotsOfGpu;
};

// A step of each model and batch was trained before, alone on its GPU.
sim::SimulatedStudy SimulatePacked(const Fleet& fleet, const std::string& policy, const Candidates& candidates,
                                   Scope scope) {
  const Gpu gpu = fleet.gpu;
  sim::ServiceToSimulate service{.servers = {{.slots = fleet.slots,
                                              .gpus = fleet.gpus,
                                              .gpu_compute = fleet.slots == 1 ? kWholeDevice : gpu.compute,
                                              .gpu_memory_bytes = kGpuBytes}},
                                 .durations = sim::kUsualDurations,
                                 .policy = policy};
  service.durations.train = Seconds(20);  // about: so node managers look at their GPUs once a second
  service.measures.demands = [gpu](const worker::Values& values) {
    return DemandOf(gpu, std::get<std::string>(values.at("model")), std::get<std::int64_t>(values.at("batch")));
  };
  std::vector<sim::StudyToSimulate> studies;
  for (const tuners::Candidate& candidate : PackedGridOf({"0.5"})) {
    const Seconds arrives_at = kSampleTakes * static_cast<double>(studies.size());
    studies.push_back(PackedStudyOf("sample-" + std::to_string(studies.size()), {candidate}, 1, Scope::kNobody));
    studies.back().arrives_at = arrives_at;
  }
  studies.push_back(PackedStudyOf("grid", candidates, kPackedSteps, scope));
  studies.back().arrives_at = kSampleTakes * static_cast<double>(studies.size());
  const auto simulated = sim::SimulateStudies(service, studies);
  if (!simulated.has_value()) GiveUp(simulated.error().message);
  for (const sim::SimulatedStudy& sample : std::span(simulated->studies).first(studies.size() - 1)) {
    if (sample.end_to_end > kSampleTakes) GiveUp("a sample takes too long");
  }
  return simulated->studies.back();
}

const std::vector<std::string> kPackedRates{"0.1", "0.2", "0.3", "0.4"};

// SP1 on four GPUs, means of kOrders random orders of its trainings: in one order rules differ by chance. Between worst
// and first fit, undecreasing, chance decides in the mean of ten, too: they are compared order by order.
void CompareRules(Figures& figures, const Gpu& gpu, const std::string& headline) {
  std::map<std::string, std::vector<double>> gains;
  for (unsigned order = 0; order < kOrders; ++order) {
    Candidates grid = PackedGridOf(kPackedRates);
    std::ranges::shuffle(grid, std::mt19937(order));
    const auto seconds = [&](const Fleet& fleet, const std::string& policy) {
      return SimulatePacked(fleet, policy, grid, Scope::kNobody).end_to_end.count();
    };
    const double alone = seconds({.gpu = gpu, .slots = 1}, "critical_path_not_preempting");
    for (const std::string rule : {"first_fit", "worst_fit", "first_fit_decreasing", "", "filling"}) {
      gains[rule].push_back(alone / seconds({.gpu = gpu}, rule.empty() ? "hypersack" : "hypersack_" + rule));
    }
  }
  const auto add = [&](const std::string& name, const std::vector<double>& values, const std::string& goal) {
    figures.Add(gpu.name + "_" + name, Mean(values), goal);
    figures.Add(gpu.name + "_" + name + "_error", StandardError(values));
  };
  std::vector<double> ratios;
  std::ranges::transform(gains["worst_fit"], gains["first_fit"], std::back_inserter(ratios), std::divides());
  add("first_fit", gains["first_fit"], "");
  add("first_fit_decreasing", gains["first_fit_decreasing"], ">= first_fit");
  add("worst_fit", gains["worst_fit"], "");
  add("worst_fit_over_first_fit", ratios, ">= 1, less twice its error");
  add("worst_fit_decreasing", gains[""], headline + " +- 0.3, >= first_fit_decreasing");
  add("filling", gains["filling"], "");
}

void CompareSmall(Figures& figures) {
  const Candidates grid = PackedGridOf({"0.1"});
  const double alone = SimulatePacked({.gpu = kA100, .slots = 1}, "critical_path_not_preempting", grid, Scope::kNobody)
                           .end_to_end.count();
  figures.Add("small", alone / SimulatePacked({.gpu = kA100}, "hypersack", grid, Scope::kNobody).end_to_end.count());
}

// How much more than the whole of a GPU its runs should be allowed to take.
void CompareComputes(Figures& figures) {
  const Candidates grid = PackedGridOf(kPackedRates);
  const double alone = SimulatePacked({.gpu = kA100, .slots = 1}, "critical_path_not_preempting", grid, Scope::kNobody)
                           .end_to_end.count();
  for (const int compute : {1000, 2000, 3000, 4000}) {
    Gpu gpu = kA100;
    gpu.compute = compute;
    const double packed = SimulatePacked({.gpu = gpu}, "hypersack", grid, Scope::kNobody).end_to_end.count();
    figures.Add("a100_compute_" + std::to_string(compute), alone / packed, "the best at 2000 to 3500");
  }
}

// Trainings that go alike for half of their way, packed: alone, and shared.
void ComparePackedShared(Figures& figures) {
  std::vector<std::string> rates;
  for (const std::string first : {"0.1", "0.2"}) {
    for (const std::string then : {"0.01", "0.02"}) {
      rates.push_back("Piecewise([" + first + ", " + then + "], [" + std::to_string(kPackedSteps / 2) + "])");
    }
  }
  const Candidates grid = PackedGridOf(rates);
  const sim::SimulatedStudy alone = SimulatePacked({.gpu = kA100}, "hypersack", grid, Scope::kNobody);
  const sim::SimulatedStudy shared = SimulatePacked({.gpu = kA100}, "hypersack", grid, Scope::kTeam);
  // Of each four trainings, the first halves are two different ones: a merge rate of 4 / 3, of which a tenth may be
  // lost.
  figures.Add("shared_prefixes_alone_over_shared", alone.end_to_end / shared.end_to_end, ">= 1.2");
}

// The first decision over many jobs.
void TimeDecision(Figures& figures, std::size_t gpus, std::size_t job_count, bool fills) {
  std::vector<PackingJob> jobs;
  while (jobs.size() < job_count) {
    for (const auto& [model, of] : kModels) {
      for (const auto& [batch, at] : kBatches) {
        const sim::StepDemand demand = DemandOf(kA100, model, batch);
        const auto compute = static_cast<std::int64_t>(demand.utilization * kWholeDevice);
        jobs.push_back({{{compute, demand.memory_bytes}}, 2, demand.step * kPackedSteps});
      }
    }
  }
  const std::vector<PackingDevice> devices(gpus, {0, 0, kA100.compute, kGpuBytes});
  const std::vector<std::int64_t> cores{static_cast<std::int64_t>(22 * gpus)};
  std::vector<double> seconds;
  std::vector<std::optional<std::size_t>> placed;
  for (int i = 0; i < 100; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    placed = Pack(jobs, devices, cores, {PackingRule::kWorstFit, true, fills});
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) taken += placed[i] ? jobs[i].takes[0].compute : 0;
  const std::string name = std::to_string(job_count) + "_jobs_on_" + std::to_string(gpus) + (fills ? "_filling_" : "_");
  std::ranges::sort(seconds);
  figures.Add(name + "milliseconds", seconds[seconds.size() / 2] * 1e3, "<= 0.1");
  figures.Add(name + "percent_filled", 100.0 * static_cast<double>(taken) / static_cast<double>(gpus) / kA100.compute,
              fills ? ">= 99" : "");
}

}  // namespace

void RunPacking(Figures& figures, Size size) {
  for (const bool fills : {false, true}) {
    TimeDecision(figures, 4, 96, fills);
    TimeDecision(figures, 16, 384, fills);
  }
  if (size.small) return CompareSmall(figures);
  CompareRules(figures, kA100, "2.8");
  CompareRules(figures, kH100, "4.0");
  CompareComputes(figures);
  ComparePackedShared(figures);
}

}  // namespace espalier::bench
