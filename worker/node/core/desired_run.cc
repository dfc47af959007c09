#include "worker/node/core/desired_run.h"

#include <algorithm>

#include "base/check.h"

namespace espalier::node {
namespace {

const PathStage* StageThatReaches(const DesiredRun& run, Step step) {
  for (const PathStage& stage : run.path) {
    if (stage.from < step && step <= stage.to) return &stage;
  }
  return nullptr;
}

// The configuration of the call of Train that leads from `step` to step + 1.
const Configuration& ConfigurationAfter(const DesiredRun& run, Step step) {
  if (run.start.has_value() && step < run.start->step) return run.start->configuration;
  const PathStage* stage = StageThatReaches(run, step + 1);
  ESPALIER_CHECK(stage != nullptr) << "step " << step.value << " is not on the path";
  return stage->configuration;
}

// A function has no values before its origin.
bool HoldsFrom(const Configuration& configuration, Step step) {
  return std::all_of(configuration.functions.begin(), configuration.functions.end(),
                     [step](const Function& function) { return function.origin <= step; });
}

std::string DefectOfTargets(const DesiredRun& run) {
  if (run.wishes.targets.empty()) return "there are no targets";
  for (const Target& target : run.wishes.targets) {
    if (target.step < StartOf(run) || target.step > PathEnd(run)) return "a target lies off the path";
  }
  for (std::size_t i = 1; i < run.wishes.targets.size(); ++i) {
    if (run.wishes.targets[i].step <= run.wishes.targets[i - 1].step) return "targets are not in increasing order";
  }
  return {};
}

}  // namespace

std::string Defect(const DesiredRun& run, int slot_count) {
  if (run.slot < 0 || run.slot >= slot_count) return "there is no slot " + std::to_string(run.slot);
  const std::size_t count = run.hyper_parameter_names.size();
  if (run.initial.size() != count) return "names and kinds of hyper-parameters differ in number";
  if (run.start.has_value() && run.start->configuration.DeclaredCount() != count) {
    return "the start's configuration has another number of hyper-parameters";
  }
  if (run.start.has_value() &&
      (run.start->step < Step{1} || !HoldsFrom(run.start->configuration, run.start->step - 1))) {
    return "the start's configuration does not hold before the start";
  }
  if (!run.start.has_value() && run.path.empty()) return "neither a start nor a path";
  Step at = StartOf(run);
  for (const PathStage& stage : run.path) {
    if (stage.from != at || stage.to <= stage.from) return "the path is not joined end to end";
    if (stage.configuration.DeclaredCount() != count) return "a configuration has another number of hyper-parameters";
    if (!HoldsFrom(stage.configuration, stage.from)) return "a function begins after its stage";
    at = stage.to;
  }
  return DefectOfTargets(run);
}

Step StartOf(const DesiredRun& run) { return run.start.has_value() ? run.start->step : Step{0}; }

Step PathEnd(const DesiredRun& run) { return run.path.empty() ? StartOf(run) : run.path.back().to; }

PlanNodeId PlanNodeAt(const DesiredRun& run, Step step) {
  if (const PathStage* stage = StageThatReaches(run, step)) return stage->plan_node;
  if (run.start.has_value()) return run.start->plan_node;
  return run.path.empty() ? PlanNodeId{} : run.path.front().plan_node;
}

std::string LineageDigestAt(const DesiredRun& run, Step step) {
  const PathStage* stage = StageThatReaches(run, step);
  return stage == nullptr ? std::string() : stage->lineage_digest;
}

Values InitialValues(const DesiredRun& run) {
  const Configuration& configuration =
      run.start.has_value() ? run.start->configuration : run.path.front().configuration;
  Values values;
  for (std::size_t i = 0; i < run.hyper_parameter_names.size(); ++i) {
    if (run.initial[i]) values[run.hyper_parameter_names[i]] = At(configuration.functions[i], Step{0});
  }
  return values;
}

Values SequenceValues(const DesiredRun& run, Step step) {
  const Configuration& configuration = ConfigurationAfter(run, step);
  Values values;
  for (std::size_t i = 0; i < run.hyper_parameter_names.size(); ++i) {
    if (!run.initial[i]) values[run.hyper_parameter_names[i]] = At(configuration.functions[i], step);
  }
  for (const std::string& name : configuration.undeclared) {
    values[name] = At(*configuration.FindUndeclared(name), step);
  }
  return values;
}

Values Changed(const Values& wanted, const Values& in_force) {
  Values changed;
  for (const auto& [name, value] : wanted) {
    const auto it = in_force.find(name);
    if (it == in_force.end() || it->second != value) changed[name] = value;
  }
  for (const auto& [name, value] : in_force) {
    if (!wanted.contains(name)) changed[name] = NeutralValue(TypeOf(value));
  }
  return changed;
}

}  // namespace espalier::node
