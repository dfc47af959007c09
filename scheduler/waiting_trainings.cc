#include "scheduler/waiting_trainings.h"

namespace espalier {

TrainingPool& WaitingTrainings::Pool(const std::string& name) {
  TrainingPool& pool = pools_[name];
  pool.name = name;
  return pool;
}

std::set<WaitingWork>& WaitingTrainings::QueueOf(const Entry& entry) {
  return entry.placed.urgency == kMostUrgent ? entry.pool->fresh : entry.pool->begun;
}

void WaitingTrainings::Add(const ReadyWork& work, const Placed& placed, TrainingPool& pool) {
  const Entry& entry = waiting_.insert_or_assign(work, Entry{placed, &pool}).first->second;
  if (placed.slot) {
    lanes_.Add(*placed.slot, {placed.urgency, work});
  } else {
    QueueOf(entry).insert({placed.urgency, work});
  }
  if (placed.trial) own_.emplace(*placed.trial, work);
  begun_ += placed.urgency == kMostUrgent ? 0 : 1;
}

void WaitingTrainings::Remove(const ReadyWork& work) {
  const auto known = waiting_.find(work);
  if (known == waiting_.end()) return;
  const Placed& placed = known->second.placed;
  if (placed.slot) {
    lanes_.Remove(*placed.slot, {placed.urgency, work});
  } else {
    QueueOf(known->second).erase({placed.urgency, work});
  }
  if (placed.trial) own_.erase({*placed.trial, work});
  begun_ -= placed.urgency == kMostUrgent ? 0 : 1;
  waiting_.erase(known);
}

const Placed* WaitingTrainings::Find(const ReadyWork& work) const {
  const auto known = waiting_.find(work);
  return known == waiting_.end() ? nullptr : &known->second.placed;
}

const ReadyWork* WaitingTrainings::FirstAt(PlanId plan, Point source) const {
  const auto work = waiting_.lower_bound({plan, source, {}});
  if (work == waiting_.end() || work->first.plan != plan || work->first.source != source) return nullptr;
  return &work->first;
}

std::vector<ReadyWork> WaitingTrainings::AllAt(PlanId plan, Point source) const {
  std::vector<ReadyWork> all;
  for (auto it = waiting_.lower_bound({plan, source, {}});
       it != waiting_.end() && it->first.plan == plan && it->first.source == source; ++it) {
    all.push_back(it->first);
  }
  return all;
}

std::vector<ReadyWork> WaitingTrainings::OwnAt(PlanId plan, Point source, TrialId trial) const {
  std::vector<ReadyWork> own;
  for (auto it = own_.lower_bound({trial, {plan, source, {}}});
       it != own_.end() && it->first == trial && it->second.plan == plan && it->second.source == source; ++it) {
    own.push_back(it->second);
  }
  return own;
}

std::vector<ReadyWork> WaitingTrainings::All() const {
  std::vector<ReadyWork> all;
  all.reserve(waiting_.size());
  for (const auto& [work, entry] : waiting_) all.push_back(work);
  return all;
}

}  // namespace espalier
