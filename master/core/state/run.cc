#include "master/core/state/run.h"

#include <algorithm>

#include "base/enum_names.h"

namespace espalier::master {

namespace {

constexpr EnumName<RunState> kRunStates[] = {
    {RunState::kTraining, "training"}, {RunState::kSaving, "saving"}, {RunState::kEnded, "ended"}};
constexpr EnumName<PromiseState> kPromiseStates[] = {{PromiseState::kOpen, "open"},
                                                     {PromiseState::kStored, "stored"},
                                                     {PromiseState::kLost, "lost"},
                                                     {PromiseState::kWithdrawn, "withdrawn"}};

}  // namespace

std::string_view Name(RunState state) { return NameIn(kRunStates, state); }

Result<RunState> ParseRunState(std::string_view name) { return ParseIn(kRunStates, name); }

std::string_view Name(PromiseState state) { return NameIn(kPromiseStates, state); }

Result<PromiseState> ParsePromiseState(std::string_view name) { return ParseIn(kPromiseStates, name); }

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

}  // namespace espalier::master
