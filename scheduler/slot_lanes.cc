#include "scheduler/slot_lanes.h"

namespace espalier {

template <class Change>
void SlotLanes::In(const SlotId& slot, const Change& change) {
  Lane& lane = lanes_[slot];
  const std::size_t before = lane.size();
  change(lane);
  size_ = size_ - before + lane.size();
  Sort(slot, before, lane.size());
  if (!lane.waiting.empty() && lane.training.empty()) {
    open_.insert(slot);
  } else {
    open_.erase(slot);
  }
  if (lane.size() == 0) lanes_.erase(slot);
}

void SlotLanes::Sort(const SlotId& slot, std::size_t before, std::size_t after) {
  if (before == after) return;
  const auto pools = pools_of_server_.find(slot.server);
  if (pools == pools_of_server_.end()) return;
  for (BySize* pool : pools->second) {
    auto place = pool->extract({before, slot});
    if (place.empty()) continue;  // the server has no such slot any more
    place.value().first = after;
    pool->insert(std::move(place));
  }
}

std::size_t SlotLanes::SizeOf(const SlotId& slot) const {
  const auto lane = lanes_.find(slot);
  return lane == lanes_.end() ? 0 : lane->second.size();
}

void SlotLanes::SetPool(const std::string& pool, const std::vector<SlotId>& slots) {
  BySize& by_size = pools_[pool];
  for (const auto& [size, slot] : std::exchange(by_size, {})) pools_of_server_[slot.server].erase(&by_size);
  for (const SlotId& slot : slots) {
    by_size.emplace(SizeOf(slot), slot);
    pools_of_server_[slot.server].insert(&by_size);
  }
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

std::optional<SlotId> SlotLanes::Fewest(const std::string& pool) const {
  const auto known = pools_.find(pool);
  if (known == pools_.end() || known->second.empty()) return std::nullopt;
  const auto& [count, slot] = *known->second.begin();
  return count < kPerSlot ? std::optional(slot) : std::nullopt;
}

const std::set<WaitingWork>& SlotLanes::WaitingOn(const SlotId& slot) const {
  static const std::set<WaitingWork> kNone;
  const auto lane = lanes_.find(slot);
  return lane == lanes_.end() ? kNone : lane->second.waiting;
}

}  // namespace espalier
