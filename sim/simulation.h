// One simulation from its seed to its verdict: the real cores of master and node managers, in virtual time, with users,
// and with faults for a while; when those are over everything must come to rest, and every law must hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/fault_kind.h"
#include "sim/users.h"

namespace espalier::sim {

struct SimulationSettings {
  int server_count = 3;
  int slot_count = 2;
  int fault_count = 28;  // some find nothing to strike: at least 20 do
  UserSettings users{};
  Seconds faults_until{1800};
  Seconds until{3600};       // it lasts so long at least
  Seconds rest_until{7200};  // when all must be settled
  std::size_t trace_line_count_max = 0;
};

struct Outcome {
  std::uint64_t seed = 0;
  std::string broken_law;  // in one sentence; empty: every law holds
  std::vector<std::string> trace;
  Seconds settled_at{0};
  std::int64_t trial_count = 0;
  std::int64_t plan_count = 0;
  std::int64_t run_count = 0;
  std::int64_t trained_steps = 0;
  std::int64_t unique_steps = 0;  // of those
  std::size_t changes_max = 0;    // by one event
  int fault_count = 0;            // that had something to strike
  std::set<FaultKind> faults;     // their kinds
};

// One study, of trials that come at random times, and nothing goes wrong: then nothing is trained twice but what a
// trial came too late for.
SimulationSettings WithoutFaults();

// Deterministic. Any thread.
Outcome Simulate(std::uint64_t seed, const SimulationSettings& settings);

}  // namespace espalier::sim
