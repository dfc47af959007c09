// What must be true once a simulation has come to rest, told from what is stored and from what simulated workers did.
// Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "master/core/state/master_state.h"
#include "sim/training.h"
#include "sim/watch.h"

namespace espalier::sim {

// What was done to workers at work, by the state that the step or the evaluation began from.
struct Blows {
  std::map<std::uint64_t, int> in_training;
  std::map<std::uint64_t, int> in_evaluation;
};

// The first law that is broken, in one sentence; empty: none.
std::string FindWrongResult(const master::MasterState& stored, const Watch& watch, const Blows& blows);
std::string FindWaste(const master::MasterState& stored, Time now);
// `fault_count`: that were injected.
std::string FindRunLoop(const master::MasterState& stored, int fault_count);
// Whether all is settled: what is not.
std::string FindUnsettled(const master::MasterState& stored);

}  // namespace espalier::sim
