// A state store and a history store of one database in memory, for masters whose threads use them at once.
#pragma once

#include <memory>
#include <mutex>

#include "sim/memory_history_store.h"
#include "sim/memory_state_store.h"

namespace espalier::master {

class LockedStateStore : public StateStore {
 public:
  LockedStateStore(StateStore& store, std::mutex& mutex) : store_(store), mutex_(mutex) {}

  Result<MasterState> Load() override {
    const std::lock_guard lock(mutex_);
    return store_.Load();
  }
  Result<void> Commit(const StateEdit& edit) override {
    const std::lock_guard lock(mutex_);
    return store_.Commit(edit);
  }

 private:
  StateStore& store_;
  std::mutex& mutex_;
};

class LockedHistoryStore : public HistoryStore {
 public:
  LockedHistoryStore(HistoryStore& store, std::mutex& mutex) : store_(store), mutex_(mutex) {}

  Result<StudyHistory> Read(StudyId study) override {
    const std::lock_guard lock(mutex_);
    return store_.Read(study);
  }
  Result<std::optional<StudyId>> StudyOf(TrialId trial) override {
    const std::lock_guard lock(mutex_);
    return store_.StudyOf(trial);
  }
  Result<std::optional<AnsweredRequest>> FindRequest(const RequestKey& key) override {
    const std::lock_guard lock(mutex_);
    return store_.FindRequest(key);
  }
  Result<std::int64_t> ForgetRequests(Time before) override {
    const std::lock_guard lock(mutex_);
    return store_.ForgetRequests(before);
  }

 private:
  HistoryStore& store_;
  std::mutex& mutex_;
};

}  // namespace espalier::master
