#include "scheduler/slot_lanes.h"

namespace espalier {

template <class Change>
void SlotLanes::In(const SlotId& slot, const Change& change) {
  Lane& lane = lanes_[slot];
  size_ -= lane.size();
  change(lane);
  size_ += lane.size();
  if (!lane.waiting.empty() && lane.training.empty()) {
    open_.insert(slot);
  } else {
    open_.erase(slot);
  }
  if (lane.size() == 0) lanes_.erase(slot);
}

void SlotLanes::Add(const SlotId& slot, const WaitingWork& waiting) {
  In(slot, [&](Lane& lane) { lane.waiting.insert(waiting); });
}

void SlotLanes::Remove(const SlotId& slot, const WaitingWork& waiting) {
  In(slot, [&](Lane& lane) { lane.waiting.erase(waiting); });
}

void SlotLanes::Begin(const SlotId& slot, RunId run) {
  In(slot, [&](Lane& lane) { lane.training.insert(run); });
  slot_of_.insert_or_assign(run, slot);
}

void SlotLanes::Save(const SlotId& slot, RunId run) {
  In(slot, [&](Lane& lane) {
    lane.training.erase(run);
    lane.saving.insert(run);
  });
  slot_of_.insert_or_assign(run, slot);
}

void SlotLanes::End(RunId run) {
  const auto known = slot_of_.find(run);
  if (known == slot_of_.end()) return;
  const SlotId slot = known->second;
  slot_of_.erase(known);
  In(slot, [&](Lane& lane) {
    lane.training.erase(run);
    lane.saving.erase(run);
  });
}

std::optional<SlotId> SlotLanes::Fewest(const std::vector<SlotId>& slots) const {
  std::size_t fewest = kPerSlot;
  const SlotId* found = nullptr;
  for (const SlotId& slot : slots) {
    const auto lane = lanes_.find(slot);
    const std::size_t count = lane == lanes_.end() ? 0 : lane->second.size();
    if (count >= fewest) continue;
    fewest = count;
    found = &slot;
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

const std::set<WaitingWork>& SlotLanes::WaitingOn(const SlotId& slot) const {
  static const std::set<WaitingWork> kNone;
  const auto lane = lanes_.find(slot);
  return lane == lanes_.end() ? kNone : lane->second.waiting;
}

std::vector<SlotId> SlotLanes::slots() const {
  std::vector<SlotId> slots;
  slots.reserve(lanes_.size());
  for (const auto& [slot, lane] : lanes_) slots.push_back(slot);
  return slots;
}

}  // namespace espalier
