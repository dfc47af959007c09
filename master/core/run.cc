#include "master/core/run.h"

#include <algorithm>

namespace espalier {

std::string_view Name(RunState state) {
  switch (state) {
    case RunState::kTraining:
      return "training";
    case RunState::kSaving:
      return "saving";
    case RunState::kEnded:
      return "ended";
  }
  return "";
}

Result<RunState> ParseRunState(std::string_view name) {
  for (const RunState state : {RunState::kTraining, RunState::kSaving, RunState::kEnded}) {
    if (Name(state) == name) return state;
  }
  return MakeError(ErrorCode::kInvalidArgument, "'" + std::string(name) + "' is no state of a run");
}

std::string_view Name(PromiseState state) {
  switch (state) {
    case PromiseState::kOpen:
      return "open";
    case PromiseState::kStored:
      return "stored";
    case PromiseState::kLost:
      return "lost";
    case PromiseState::kWithdrawn:
      return "withdrawn";
  }
  return "";
}

Result<PromiseState> ParsePromiseState(std::string_view name) {
  for (const PromiseState state :
       {PromiseState::kOpen, PromiseState::kStored, PromiseState::kLost, PromiseState::kWithdrawn}) {
    if (Name(state) == name) return state;
  }
  return MakeError(ErrorCode::kInvalidArgument, "'" + std::string(name) + "' is no state of a promise");
}

std::vector<Target> OpenTargets(const Run& run) {
  std::vector<Target> targets;
  for (const Promise& promise : run.promises) {
    if (promise.state == PromiseState::kOpen) targets.push_back(promise.target);
  }
  std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) { return a.step < b.step; });
  return targets;
}

RunView ViewOf(const Run& run) {
  return {.id = run.id,
          .start = run.start,
          .path = run.path,
          .at = run.at,
          .training = run.state == RunState::kTraining,
          .targets = OpenTargets(run)};
}

}  // namespace espalier
