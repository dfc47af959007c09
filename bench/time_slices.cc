// Policies of time slices, in the simulator, on a workload as Hermes's own (section 4.1): sixteen trainings come at
// once to four devices, some of them good. How long until the good ones have lost nine tenths of what the best loses at
// all, against trainings one after another to the end.
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

constexpr std::size_t kJobs = 16;
constexpr int kDevices = 4;
constexpr std::int64_t kSliceOrders = 30;
constexpr double kShareToLose = 0.9;
constexpr Seconds kJobTakes{300};
constexpr double kLossMax = 1e6;  // beyond it a training has diverged

// The training losses of many runs of one problem.
struct Problem {
  std::string name;
  std::string table;                        // CSV: step, loss, curve
  std::vector<std::vector<double>> losses;  // by curve, from step 0
  std::vector<std::size_t> good;            // curves that lose as much as that
  std::vector<std::size_t> bad;             // others, but for those that diverge
};

// The first step at which so much is lost; none: never.
std::optional<Step> ReachedAt(const std::vector<double>& losses, double best) {
  for (std::size_t step = 1; step < losses.size(); ++step) {
    if (losses[0] - losses[step] >= kShareToLose * (losses[0] - best)) return Step{static_cast<std::int64_t>(step)};
  }
  return std::nullopt;
}

bool Diverges(const std::vector<double>& losses) {
  return std::ranges::any_of(losses, [](double loss) { return !(std::abs(loss) <= kLossMax); });
}

double BestOf(const Problem& problem) {
  double best = kLossMax;
  for (const std::vector<double>& losses : problem.losses) {
    if (!Diverges(losses)) best = std::min(best, losses.back());
  }
  return best;
}

Problem Sorted(Problem problem) {
  const double best = BestOf(problem);
  for (std::size_t curve = 0; curve < problem.losses.size(); ++curve) {
    if (Diverges(problem.losses[curve])) continue;
    (ReachedAt(problem.losses[curve], best) ? problem.good : problem.bad).push_back(curve);
  }
  return problem;
}

// For a small run.
Problem MadeUpProblem() {
  Problem problem{.name = "made_up", .table = "step,loss,curve\n"};
  for (std::size_t curve = 0; curve < 2 * kJobs; ++curve) {
    std::vector<double>& losses = problem.losses.emplace_back();
    const double factor = curve % 2 == 0 ? 0.8 : 0.99;
    for (int step = 0; step <= 30; ++step) {
      losses.push_back(std::pow(factor, step));
      problem.table += std::to_string(step) + "," + std::to_string(losses.back()) + "," + std::to_string(curve) + "\n";
    }
  }
  return Sorted(std::move(problem));
}

// A training that follows one curve, and from some step on perhaps another.
struct Job {
  std::size_t curve = 0;
  std::optional<std::size_t> then;
  Step turns{0};

  std::string sequence() const {
    if (!then) return std::to_string(curve);
    return "Piecewise([" + std::to_string(curve) + ", " + std::to_string(*then) + "], [" + std::to_string(turns.value) +
           "])";
  }
};

// A study of its own, as each job has another user.
sim::StudyToSimulate StudyOf(const Job& job, std::int64_t steps, Scope scope, std::size_t number) {
  const auto make_tuner = [=] {
    std::vector<tuners::Candidate> candidates{{{{"curve", job.sequence()}}, std::nullopt}};
    return tuners::MakeTuner("grid", {{"steps", Value{steps}}}, {candidates}).value();
  };
  return {.specification = {.name = "job " + std::to_string(number),
                            .trainer = "curves",
                            .metric = "metric",
                            .scope = scope,
                            .undeclared = {{"curve", ValueType::kInteger}}},
          .make_tuner = make_tuner};
}

sim::ServiceToSimulate ServiceFor(const Problem& problem, const std::string& policy) {
  const auto steps = std::ssize(problem.losses[0]) - 1;
  sim::ServiceToSimulate service{.servers = {{.slots = kDevices}},
                                 .durations = {.network = Seconds(0.001),
                                               .commit = Seconds(0.001),
                                               .upload = Seconds(0.01),
                                               .fetch = Seconds(0.01),
                                               .start_worker = Seconds(0.1),
                                               .set_up = Seconds(0.001),
                                               .load = Seconds(0.8),
                                               .train = kJobTakes / static_cast<double>(steps),
                                               .evaluate = Seconds(0.001),
                                               .save = Seconds(0.5),
                                               .vary = false},
                                 .policy = policy};
  service.measures.losses = sim::LearningCurves::Parse(problem.table, "loss", {{"curve", ValueType::kInteger}}).value();
  return service;
}

// Mean time until the good ones are there.
double SecondsToReach(const Problem& problem, const std::vector<Job>& jobs, const std::string& policy,
                      Scope scope = Scope::kNobody) {
  const double best = BestOf(problem);
  std::vector<sim::StudyToSimulate> studies;
  for (const Job& job : jobs) {
    studies.push_back(StudyOf(job, std::ssize(problem.losses[0]) - 1, scope, studies.size()));
  }
  std::map<std::size_t, Seconds> reached;
  sim::ServiceToSimulate service = ServiceFor(problem, policy);
  service.trained = [&](std::size_t job, Step step, Seconds at) {
    if (ReachedAt(problem.losses[jobs[job].curve], best) == step) reached.try_emplace(job, at);
  };
  const auto simulated = sim::SimulateStudies(service, studies);
  if (!simulated.has_value()) GiveUp(simulated.error().message);
  std::vector<double> seconds;
  for (const auto& [job, at] : reached) seconds.push_back(at.count());
  return Mean(seconds);
}

// So many good ones among so many.
std::vector<std::size_t> Drawn(const Problem& problem, std::size_t good_count, std::size_t count,
                               std::mt19937_64& random) {
  std::vector<std::size_t> drawn = problem.good;
  std::vector<std::size_t> bad = problem.bad;
  std::ranges::shuffle(drawn, random);
  std::ranges::shuffle(bad, random);
  drawn.resize(std::min(drawn.size(), good_count));
  bad.resize(std::min(bad.size(), count - drawn.size()));
  drawn.insert(drawn.end(), bad.begin(), bad.end());
  std::ranges::shuffle(drawn, random);
  return drawn;
}

void CompareAlone(Figures& figures, const Problem& problem, const std::string& bin, std::size_t good_count, Size size) {
  const std::vector<std::string> others{"critical_path_not_preempting", "round_robin", "slaq", "hermes_pinned"};
  std::vector<double> hermes;
  std::map<std::string, std::vector<double>> seconds;
  for (std::int64_t seed = 1; seed <= size.Of(kSliceOrders, 1); ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::vector<Job> jobs;
    for (const std::size_t curve : Drawn(problem, good_count, kJobs, random)) jobs.push_back({.curve = curve});
    hermes.push_back(SecondsToReach(problem, jobs, "hermes"));
    for (const std::string& other : others) seconds[other].push_back(SecondsToReach(problem, jobs, other));
  }
  const std::string name = problem.name + "_" + bin + "_";
  figures.Add(name + "hermes_seconds", Mean(hermes));
  for (const std::string& other : others) {
    const bool is_baseline = bin == "bin_1" && other != "hermes_pinned";
    const std::string goal = !is_baseline ? "" : other == "critical_path_not_preempting" ? ">= 2" : "> 1";
    figures.Add(name + other + "_over_hermes", Mean(seconds[other]) / Mean(hermes), goal);
  }
}

// Sixteen families of trainings that part after two thirds of their way, when the good ones have long been there: each
// of their steps up to there is shared by a whole family.
void CompareShared(Figures& figures, const Problem& problem, Size size) {
  constexpr std::size_t kOfAFamily = 4;
  const Step turns{(std::ssize(problem.losses[0]) - 1) * 2 / 3};
  std::vector<double> alone;
  std::vector<double> shared;
  for (std::int64_t seed = 1; seed <= size.Of(kSliceOrders, 1); ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::vector<Job> jobs;
    for (const std::size_t curve : Drawn(problem, 4, kJobs, random)) {
      for (const std::size_t then : Drawn(problem, 2, kOfAFamily, random)) jobs.push_back({curve, then, turns});
    }
    std::ranges::shuffle(jobs, random);
    alone.push_back(SecondsToReach(problem, jobs, "hermes_pinned"));
    shared.push_back(SecondsToReach(problem, jobs, "hermes", Scope::kTeam));
  }
  figures.Add(problem.name + "_families_alone_seconds", Mean(alone));
  figures.Add(problem.name + "_families_shared_seconds", Mean(shared));
  figures.Add(problem.name + "_families_shared_over_alone_by_merge_rate", Mean(shared) / (Mean(alone) / kOfAFamily),
              "<= 1");
}

}  // namespace

void RunTimeSlices(Figures& figures, Size size) {
  std::vector<Problem> problems;
  for (const char* name : {"tolstoi_char_rnn", "fmnist_2c2d", "svhn_wrn164"}) {
    auto curves = size.small ? std::nullopt : ReadCurves(name);
    if (!curves) break;
    problems.push_back(Sorted({.name = name, .table = std::move(curves->table), .losses = std::move(curves->losses)}));
  }
  if (problems.empty()) problems.push_back(MadeUpProblem());
  for (const Problem& problem : problems) {
    CompareAlone(figures, problem, "bin_1", 4, size);
    CompareAlone(figures, problem, "bin_2", 12, size);
    CompareShared(figures, problem, size);
  }
}

}  // namespace espalier::bench
