#include "master/store/stored_run.h"

#include <algorithm>

namespace espalier::master {
namespace {

// The run that a change is of; RunId{} for changes of something else.
RunId RunOf(const StateChange& change) {
  if (const auto* targets = std::get_if<SetTargets>(&change)) return targets->run;
  if (const auto* preempt = std::get_if<SetPreempt>(&change)) return preempt->run;
  if (const auto* promise = std::get_if<SettlePromise>(&change)) return promise->run;
  if (const auto* state = std::get_if<SetRunState>(&change)) return state->run;
  return RunId{};
}

bool HasOpenPromise(const Run& run, Step step) {
  return std::any_of(run.promises.begin(), run.promises.end(), [&](const Promise& promise) {
    return promise.state == PromiseState::kOpen && promise.target.step == step;
  });
}

// Whether Apply would take the change: an edit that does not fit what is stored is refused, not a reason to stop.
Result<void> CheckFits(const MasterState& runs, const StateChange& change, RunId id) {
  const auto run = runs.runs.find(id);
  if (run == runs.runs.end()) {
    return MakeError(ErrorCode::kAborted, "run " + std::to_string(id.value) + " is not stored, or has ended");
  }
  const auto* settled = std::get_if<SettlePromise>(&change);
  if (settled != nullptr && !HasOpenPromise(run->second, settled->step)) {
    return MakeError(ErrorCode::kAborted, "run " + std::to_string(id.value) + " has no open promise at step " +
                                              std::to_string(settled->step.value));
  }
  return {};
}

}  // namespace

StoredRuns::StoredRuns(const MasterState& loaded) {
  for (const RunId id : loaded.active_runs) active_.emplace(id, loaded.runs.at(id));
}

Result<std::vector<StoredRuns::Change>> StoredRuns::Follow(const StateEdit& edit) const {
  MasterState touched;
  for (const StateChange& change : edit) {
    if (const auto* added = std::get_if<AddRun>(&change)) {
      if (active_.contains(added->run.id) || touched.runs.contains(added->run.id)) {
        return MakeError(ErrorCode::kAborted, "run " + std::to_string(added->run.id.value) + " is stored");
      }
      Apply(touched, change);
      continue;
    }
    const RunId id = RunOf(change);
    if (id == RunId{}) continue;
    const auto known = active_.find(id);
    if (known != active_.end() && !touched.runs.contains(id)) touched.runs.emplace(id, known->second);
    ESPALIER_RETURN_IF_ERROR(CheckFits(touched, change, id));
    Apply(touched, change);
  }
  std::vector<Change> changes;
  for (auto& [id, run] : touched.runs) {
    const auto known = active_.find(id);
    changes.push_back({known == active_.end() ? std::nullopt : std::optional(known->second), std::move(run)});
  }
  return changes;
}

void StoredRuns::Accept(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    if (change.after.state == RunState::kEnded) {
      active_.erase(change.after.id);
    } else {
      active_.insert_or_assign(change.after.id, change.after);
    }
  }
}

PromiseChanges ComparePromises(const std::vector<Promise>& before, const std::vector<Promise>& after) {
  PromiseChanges changes{.settled = {}, .made = after};
  std::vector<Promise>& rest = changes.made;
  for (const Promise& promise : before) {
    if (promise.state != PromiseState::kOpen) rest.erase(std::find(rest.begin(), rest.end(), promise));
  }
  for (const Promise& promise : before) {
    if (promise.state != PromiseState::kOpen) continue;
    // Settled if anything of the same target and moment is; two alike cannot be told apart, and need not be.
    const auto same = [&](const Promise& other) {
      return other.target == promise.target && other.made_at == promise.made_at;
    };
    auto now = std::find_if(rest.begin(), rest.end(),
                            [&](const Promise& other) { return same(other) && other.state != PromiseState::kOpen; });
    if (now == rest.end()) {
      now = std::find_if(rest.begin(), rest.end(), same);
    } else {
      changes.settled.push_back(*now);
    }
    rest.erase(now);
  }
  return changes;
}

}  // namespace espalier::master
