// What has left the memory of masters of a database in memory (memory_state_store.h). One thread at a time.
#pragma once

#include <memory>
#include <utility>

#include "master/core/history_store.h"
#include "sim/memory_state_store.h"

namespace espalier::master {

// REQUIRES: memory has all of it.
inline StudyHistory HistoryOf(const MasterState& state, StudyId study) {
  StudyHistory history;
  const auto trials = state.trials_by_study.find(study);
  if (trials == state.trials_by_study.end()) return history;
  for (const TrialId id : trials->second) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    for (const ClaimId claim : trial.claims) history.claims.push_back(plan.claims.at(claim));
    if (const auto states = state.index.state_claims.find(id); states != state.index.state_claims.end()) {
      for (const ClaimId claim : states->second) history.claims.push_back(plan.claims.at(claim));
    }
    history.trials.push_back(trial);
    history.trials.back().claims.clear();
  }
  std::ranges::sort(history.claims, {}, &Claim::id);
  history.events = state.events.at(study);
  if (!history.events.empty()) history.event_times = state.event_times.at(study);
  if (const auto runs = state.index.runs_of_study.find(study); runs != state.index.runs_of_study.end()) {
    for (const RunId run : runs->second) history.runs.push_back(state.runs.at(run));
  }
  return history;
}

class MemoryHistoryStore : public HistoryStore {
 public:
  explicit MemoryHistoryStore(std::shared_ptr<MemoryDatabase> database) : database_(std::move(database)) {}

  Result<StudyHistory> Read(StudyId study) override { return HistoryOf(database_->stored, study); }

  Result<std::optional<StudyId>> StudyOf(TrialId trial) override {
    const auto stored = database_->stored.trials.find(trial);
    if (stored == database_->stored.trials.end()) return std::nullopt;
    return stored->second.study;
  }

  Result<std::optional<AnsweredRequest>> FindRequest(const RequestKey& key) override {
    const auto stored = database_->stored.requests.find(key);
    if (stored == database_->stored.requests.end()) return std::nullopt;
    return stored->second;
  }
  Result<std::int64_t> ForgetRequests(Time before) override {
    const MasterState& stored = database_->stored;
    return static_cast<std::int64_t>(std::erase_if(database_->stored.requests, [&](const auto& request) {
      const StudyId study = request.first.first;
      const auto retired = stored.retired.find(study);
      const bool may_go = study == StudyId{0} || (retired != stored.retired.end() && retired->second.at < before);
      return may_go && request.second.at < before;
    }));
  }

 private:
  std::shared_ptr<MemoryDatabase> database_;
};

}  // namespace espalier::master
