// The state store of simulations and tests: keeps what is stored in memory, and fails when told to. One thread at a
// time, as the port says.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "master/core/state/state_store.h"
#include "sim/edit_fits.h"

namespace espalier::master {

// What outlives a master: share it between stores as masters share a database.
struct MemoryDatabase {
  MasterState stored;  // as `log` makes it, but with all that has left a master's memory
  StateEdit log;       // every change that was stored
  std::int64_t epoch = 1;
  std::vector<RunId> retired_runs;

  // REQUIRES: it is stored, and fits.
  void Take(const StateChange& change) {
    if (const auto* retired = std::get_if<RetireRuns>(&change)) {
      retired_runs.insert(retired_runs.end(), retired->runs.begin(), retired->runs.end());
    } else {
      Apply(stored, change);
    }
  }
  // What a master loads.
  MasterState WithoutRetired() const {
    MasterState state = stored;
    while (!state.index.forgetting.empty()) Apply(state, ForgetSome{*state.index.forgetting.begin(), 1000});
    Apply(state, RetireRuns{retired_runs});
    return state;
  }
};

class MemoryStateStore : public StateStore {
 public:
  explicit MemoryStateStore(std::shared_ptr<MemoryDatabase> database = std::make_shared<MemoryDatabase>())
      : database_(std::move(database)), epoch_(database_->epoch) {}

  // Fails the next Commit with this error: before or after it has stored the edit.
  void FailNextCommit(Error error, bool after_storing = false) { commit_failure_ = {std::move(error), after_storing}; }
  // Asked before every Commit that has something to store; one that it names an error for stores nothing.
  void RefuseCommits(std::function<std::optional<Error>(const StateEdit&)> refusal) { refusal_ = std::move(refusal); }
  void FailNextLoads(int count) { load_failure_count_ = count; }
  // Called at the start of every Commit that has something to store.
  void OnCommit(std::function<void(const StateEdit&)> hook) { on_commit_ = std::move(hook); }

  Result<MasterState> Load() override {
    loaded_ = false;
    if (load_failure_count_ > 0) {
      --load_failure_count_;
      return MakeError(ErrorCode::kUnavailable, "the database is away");
    }
    if (epoch_ != database_->epoch) return MakeError(ErrorCode::kFailedPrecondition, "another master leads");
    loaded_ = true;
    MasterState state = database_->WithoutRetired();
    state.leadership = LeadershipId{epoch_};
    for (auto& [id, run] : state.runs) {
      if (auto* training = std::get_if<Training>(&run.state)) training->at = BeginningOf(run).step;
    }
    return state;
  }

  Result<void> Commit(const StateEdit& edit) override {
    if (std::none_of(edit.begin(), edit.end(), IsStored)) return {};
    if (!std::exchange(loaded_, false)) return MakeError(ErrorCode::kUnavailable, "nothing is loaded");
    if (on_commit_) on_commit_(edit);
    if (epoch_ != database_->epoch) return MakeError(ErrorCode::kFailedPrecondition, "another master leads");
    if (refusal_) {
      if (auto refused = refusal_(edit)) return tl::unexpected<Error>(*std::move(refused));
    }
    const auto failure = std::exchange(commit_failure_, std::nullopt);
    if (failure && !failure->second) return tl::unexpected<Error>(failure->first);
    for (const StateChange& change : edit) {
      if (!IsStored(change)) continue;
      if (!Fits(database_->stored, change)) {
        RollBack();
        return MakeError(ErrorCode::kAborted, "does not fit: " + Print(change));
      }
      database_->Take(change);
    }
    std::copy_if(edit.begin(), edit.end(), std::back_inserter(database_->log), IsStored);
    if (failure) return tl::unexpected<Error>(failure->first);
    loaded_ = true;
    return {};
  }

 private:
  // Rare, so that a commit need not copy the state.
  void RollBack() {
    database_->stored = {};
    database_->retired_runs.clear();
    for (const StateChange& change : database_->log) database_->Take(change);
  }

  std::shared_ptr<MemoryDatabase> database_;
  const std::int64_t epoch_;
  bool loaded_ = false;
  int load_failure_count_ = 0;
  std::optional<std::pair<Error, bool>> commit_failure_;
  std::function<void(const StateEdit&)> on_commit_;
  std::function<std::optional<Error>(const StateEdit&)> refusal_;
};

}  // namespace espalier::master
