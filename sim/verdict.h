// What must be true once a simulation has come to rest, told from what is stored and from what simulated workers did.
// Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "master/core/state/master_state.h"
#include "sim/training.h"
#include "sim/watch.h"

namespace espalier::sim {

// What simulated workers did, and what was done to them at work, by the state that the step or the evaluation began
// from. A run that only evaluates is struck in its evaluation, also while it gets ready.
struct Deeds {
  std::map<RunId, std::set<Step>> trained;
  std::map<RunId, std::set<Step>> returned;  // those whose metrics reached the node manager
  using InPlan = std::pair<PlanId, std::uint64_t>;
  std::map<InPlan, int> struck_in_training;
  std::map<InPlan, int> struck_in_evaluation;
  std::set<RunId> refused;  // by node managers that would not take them
};

// The first law that is broken, in one sentence; empty: none.
std::string FindWrongResult(const master::MasterState& stored, const Watch& watch, const Deeds& deeds);
// Whether it is stored who trained what, as the step logs had it.
std::string FindWrongLog(const master::MasterState& stored, const Deeds& deeds);
// Whether what each of these steps returned, where that was heard, is among the training metrics.
std::string FindMissingSeries(const master::MasterState& stored, const Watch& watch, const Deeds& deeds);
// Whether something was tried again and again.
std::string FindTooManyAttempts(const Deeds& deeds);
std::string FindWaste(const master::MasterState& stored, Time now);
// Whether the bills add up to what runs were charged, and these, where it is told how late a decision shows at most, to
// what node managers said: then nothing goes wrong.
std::string FindWrongBill(const master::MasterState& stored, const Watch& watch, Time now,
                          std::optional<Seconds> to_node);
// Whether plan nodes, stored bytes and the day's device time of teams are counted as they are, all within one day.
std::string FindWrongUsage(const master::MasterState& stored);
// Whether a node manager that would not take orders was asked over and over.
std::string FindRefusalLoop(const master::MasterState& stored, const Deeds& deeds);
// Of runs that were taken. `fault_count`: that were injected.
std::string FindRunLoop(const master::MasterState& stored, const Deeds& deeds, int fault_count);
// Whether all is settled: what is not.
std::string FindUnsettled(const master::MasterState& stored);

}  // namespace espalier::sim
