// Trainings that stay on the slot on which they began: what waits there, and what is under way there (J. Son et al.,
// Hermes, Electronics 10(3), 2021, algorithms 1 and 2). One thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/ready_work.h"
#include "scheduler/slot_id.h"

namespace espalier {

// Work that waits for a slot: the most urgent first, then the earliest submitted, whose node is the smallest.
struct WaitingWork {
  double urgency = 0;
  ReadyWork work;
  friend bool operator<(const WaitingWork& a, const WaitingWork& b) {
    if (a.urgency != b.urgency) return a.urgency > b.urgency;
    return std::tie(a.work.first, a.work) < std::tie(b.work.first, b.work);
  }
};

class SlotLanes {
 public:
  static constexpr std::size_t kPerSlot = 4;  // Hermes, 3.2

  SlotLanes() = default;
  SlotLanes(const SlotLanes&) = delete;
  SlotLanes& operator=(const SlotLanes&) = delete;

  // The slots of a pool of servers from now on, sorted. O(these and those before x log slots).
  void SetPool(const std::string& pool, const std::vector<SlotId>& slots);

  // What changes a slot: all O(pools of its server x log slots).
  void Add(const SlotId& slot, const WaitingWork& waiting);
  void Remove(const SlotId& slot, const WaitingWork& waiting);
  void Begin(const SlotId& slot, RunId run);
  // Its state is on its way to the store.
  void Save(const SlotId& slot, RunId run);
  // Neither any more. Nothing, if it never began here.
  void End(RunId run);

  // Of all slots.
  std::size_t size() const { return size_; }
  // The one of the pool's slots with the fewest trainings, the first of equals; none: each has as many as it may.
  // O(log pools).
  std::optional<SlotId> Fewest(const std::string& pool) const;
  const std::set<WaitingWork>& WaitingOn(const SlotId& slot) const;
  // Those on which something waits, and nothing trains.
  const std::set<SlotId>& open() const { return open_; }

 private:
  struct Lane {
    std::set<WaitingWork> waiting;
    std::set<RunId> training;
    std::set<RunId> saving;
    std::size_t size() const { return waiting.size() + training.size() + saving.size(); }
  };
  using BySize = std::set<std::pair<std::size_t, SlotId>>;
  // Lets `change` change the lane, and keeps what follows from it.
  template <class Change>
  void In(const SlotId& slot, const Change& change);
  void Sort(const SlotId& slot, std::size_t before, std::size_t after);
  std::size_t SizeOf(const SlotId& slot) const;

  std::map<SlotId, Lane> lanes_;         // none is empty
  std::map<std::string, BySize> pools_;  // all slots of each
  std::unordered_map<std::string, std::set<BySize*>> pools_of_server_;
  std::map<RunId, SlotId> slot_of_;
  std::set<SlotId> open_;
  std::size_t size_ = 0;
};

}  // namespace espalier
