// What the master wants of a run: its path through the plan, where it starts, and its targets, in the node manager's
// own words. A path never changes; targets and preempt do, each time with a higher generation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "searchplan/sequence/configuration.h"

namespace espalier::node {

using Values = std::map<std::string, Value>;

// What one call of Train does.
struct StepMeaning {
  bool epoch = true;
  std::int64_t updates = 0;  // if not an epoch
  friend bool operator==(const StepMeaning&, const StepMeaning&) = default;
};

// The checkpoint that a run starts from.
struct StartPoint {
  PlanNodeId plan_node;
  Step step;
  std::string file;  // name within the checkpoint store
  std::string state_sha256;
  Configuration configuration;  // in force at step - 1
};

// Steps `from` to `to` under one plan node.
struct PathStage {
  PlanNodeId plan_node;
  Step from;
  Step to;
  Configuration configuration;
  std::string lineage_digest;
};

struct Target {
  Step step;
  bool evaluate = false;
  bool save = false;
};

// The part of a run's description that a later generation may change.
struct Wishes {
  std::int64_t generation = 0;
  std::vector<Target> targets;  // in increasing order of step; the last is the run's end
  bool preempt = false;
  std::vector<std::int64_t> evaluate_every_steps;
  Seconds save_every{0};  // 0: never
  Seconds hang{0};        // a request that takes longer is a hang; 0: not known
};

struct DesiredRun {
  RunId run;
  int slot = 0;
  std::string trainer;
  std::string data;
  StepMeaning step;
  PlanId plan;
  std::vector<std::string> hyper_parameter_names;
  std::vector<bool> initial;        // parallel to the names
  std::optional<StartPoint> start;  // unset: from Init
  std::vector<PathStage> path;      // joined end to end; empty: the start's checkpoint is evaluated
  Wishes wishes;
  std::string evaluation_digest;
};

// Why this run cannot be trained as it is described; empty if it can.
std::string Defect(const DesiredRun& run, int slot_count);

// Where training starts and where the path ends.
Step StartOf(const DesiredRun& run);
Step PathEnd(const DesiredRun& run);

// The plan node to which the point at `step` belongs. REQUIRES: StartOf(run) <= step <= PathEnd(run).
PlanNodeId PlanNodeAt(const DesiredRun& run, Step step);

// The same node's lineage digest; empty at the start itself.
std::string LineageDigestAt(const DesiredRun& run, Step step);

// The values of all `initial` hyper-parameters.
Values InitialValues(const DesiredRun& run);

// The values of all others in force for the call of Train that leads from `step` to step + 1; undeclared ones that are
// neutral there are left out.
// REQUIRES: StartOf(run) - 1 <= step < PathEnd(run), and 0 <= step.
Values SequenceValues(const DesiredRun& run, Step step);

// Those of `wanted` that `in_force` does not have, or has otherwise; and those that only `in_force` has: neutral now.
Values Changed(const Values& wanted, const Values& in_force);

}  // namespace espalier::node
