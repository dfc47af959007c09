#include "sim/seeds.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

namespace espalier::sim {
namespace {

thread_local std::uint64_t t_seed = 0;

// The process aborts: only what is safe in a signal handler.
void SayWhichSeed(int) {
  char text[] = "in seed 00000000000000000000; replay: espalier simulate --seeds 1 --from SEED\n";
  char* digit = text + 27;
  for (std::uint64_t seed = t_seed; seed > 0; seed /= 10) *digit-- = static_cast<char>('0' + seed % 10);
  (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
}

// The trace costs time: it is kept by running once more.
Outcome SimulateAndTrace(std::uint64_t seed, const SeedSettings& settings) {
  Outcome outcome = Simulate(seed, settings.simulation);
  if (outcome.broken_law.empty() || settings.trace_line_count == 0) return outcome;
  SimulationSettings traced = settings.simulation;
  traced.trace_line_count_max = settings.trace_line_count;
  return Simulate(seed, traced);
}

void Add(const Outcome& outcome, SeedTotals& totals) {
  ++totals.seeds;
  totals.broken += outcome.broken_law.empty() ? 0 : 1;
  totals.trials += outcome.trial_count;
  totals.runs += outcome.run_count;
  totals.trained_steps += outcome.trained_steps;
  totals.unique_steps += outcome.unique_steps;
  totals.faults_struck += std::ssize(outcome.faults);
  totals.changes_max = std::max(totals.changes_max, outcome.changes_max);
  LeastOfSeeds& least = totals.least;
  least.trials = std::min(least.trials, outcome.trial_count);
  least.plans = std::min(least.plans, outcome.plan_count);
  least.faults = std::min<std::int64_t>(least.faults, outcome.fault_count);
  least.fault_kinds = std::min<std::int64_t>(least.fault_kinds, std::ssize(outcome.faults));
}

}  // namespace

SeedTotals RunSeeds(const SeedSettings& settings, const std::function<void(const Outcome&)>& told) {
  std::signal(SIGABRT, SayWhichSeed);
  SeedTotals totals;
  std::mutex mutex;
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    for (std::int64_t i = next++; i < settings.count; i = next++) {
      t_seed = settings.first + static_cast<std::uint64_t>(i);
      const Outcome outcome = SimulateAndTrace(t_seed, settings);
      const std::lock_guard lock(mutex);
      Add(outcome, totals);
      if (outcome.broken_law.empty()) continue;
      told(outcome);
      if (totals.broken >= settings.broken_max) next = settings.count;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < settings.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return totals;
}

}  // namespace espalier::sim
