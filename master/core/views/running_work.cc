#include "master/core/views/running_work.h"

#include <algorithm>

namespace espalier::master {

std::vector<StepRange> PathRanges(const Run& run, Step from, Step to) {
  std::vector<StepRange> ranges;
  for (const PathStage& stage : run.path) {
    const StepRange range{stage.node, std::max(stage.from, from), std::min(stage.to, to)};
    if (range.from < range.to) ranges.push_back(range);
  }
  return ranges;
}

std::optional<Seconds> HangAfterOf(const MasterState& state, const Run& run) {
  std::optional<Seconds> longest;
  for (const StudyId study : run.serves) {
    const std::optional<Seconds>& after = state.studies.at(study).specification.hang_after;
    if (!after) return std::nullopt;
    longest = std::max(longest.value_or(*after), *after);
  }
  return longest;
}

std::optional<std::string> LongStepOf(const MasterState& state, const Run& run, Time now) {
  constexpr std::chrono::minutes kLongStep{30};
  const Time since = std::max(std::get<Training>(run.state).since, run.ordered_at);
  const auto costs = state.costs.find(state.plans.at(run.plan).cost_key);
  const bool measured = costs != state.costs.end() && costs->second.IsMeasured(CostKind::kStep);
  if (measured || HangAfterOf(state, run) || now - since < kLongStep) return std::nullopt;
  const auto minutes = std::chrono::floor<std::chrono::minutes>(now - since).count();
  return "run " + std::to_string(run.id.value) + " has been at step " + std::to_string(run.at().value) + " for " +
         std::to_string(minutes) +
         " min, and no step of such a training was ever measured: nobody can tell whether it hangs (`hang_after` in a "
         "study file says what is too long)";
}

}  // namespace espalier::master
