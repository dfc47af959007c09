// Many simulations, each by its own seed, beside each other.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>

#include "sim/simulation.h"

namespace espalier::sim {

struct SeedSettings {
  std::uint64_t first = 1;
  std::int64_t count = 1;
  int threads = 1;
  std::size_t trace_line_count = 60;  // of a seed that breaks a law
  std::int64_t broken_max = 10;       // no further seed is begun once so many broke a law
  SimulationSettings simulation{};
};

// The least that any one seed had.
struct LeastOfSeeds {
  std::int64_t trials = std::numeric_limits<std::int64_t>::max();
  std::int64_t plans = std::numeric_limits<std::int64_t>::max();
  std::int64_t faults = std::numeric_limits<std::int64_t>::max();  // that had something to strike
  std::int64_t fault_kinds = std::numeric_limits<std::int64_t>::max();
};

struct SeedTotals {
  std::int64_t seeds = 0;
  std::int64_t broken = 0;
  std::int64_t trials = 0;
  std::int64_t runs = 0;
  std::int64_t trained_steps = 0;
  std::int64_t unique_steps = 0;
  std::int64_t faults_struck = 0;  // kinds, summed over the seeds
  std::size_t changes_max = 0;
  LeastOfSeeds least{};
};

// Each seed on one thread; `told` hears of each that broke a law, with the end of its trace, one call at a time. A
// broken promise of the program (ESPALIER_CHECK) ends the process, and says in which seed.
SeedTotals RunSeeds(const SeedSettings& settings, const std::function<void(const Outcome&)>& told);

}  // namespace espalier::sim
