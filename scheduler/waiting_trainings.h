// Trainings that take turns, as they wait: each in the pool of the servers that may train it, or on the slot on which
// it stays (slot_lanes.h). One thread.
//
// Invariant: all that begins at one place was put there by what is known of that place (`Placed::urgency`, `given`).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/ready_work.h"
#include "scheduler/slot_lanes.h"

namespace espalier {

// Of a training that has never run.
inline constexpr double kMostUrgent = std::numeric_limits<double>::infinity();

// Where work waits, and why there.
struct Placed {
  double urgency = kMostUrgent;  // as is known of where it begins
  std::optional<SlotId> slot;    // on which it stays; none: it waits in its pool
  std::optional<SlotId> given;   // the slot that is known of where it begins, whoever may use it
  std::optional<TrialId> trial;  // its own, whose mark says more; none: it was not asked for
};

// Of trainings that the same servers may train.
struct TrainingPool {
  std::string name;
  std::set<WaitingWork> begun;
  std::set<WaitingWork> fresh;  // urgency: kMostUrgent
  std::set<std::string> servers;
  bool is_current = false;  // servers, and their slots: none has come or gone since they were looked up
};

class WaitingTrainings {
 public:
  // The one of this name. O(log pools). It stays where it is.
  TrainingPool& Pool(const std::string& name);
  std::map<std::string, TrainingPool>& pools() { return pools_; }
  SlotLanes& lanes() { return lanes_; }
  const SlotLanes& lanes() const { return lanes_; }

  // REQUIRES: it does not wait yet. O(log), on a slot what changes that costs.
  void Add(const ReadyWork& work, const Placed& placed, TrainingPool& pool);
  // Nothing, if it does not wait. As Add.
  void Remove(const ReadyWork& work);

  // Null: it does not wait. O(log).
  const Placed* Find(const ReadyWork& work) const;
  // Null: nothing waits there. O(log).
  const ReadyWork* FirstAt(PlanId plan, Point source) const;
  // O(log + these).
  std::vector<ReadyWork> AllAt(PlanId plan, Point source) const;
  // Those there whose own trial it is. O(log + these).
  std::vector<ReadyWork> OwnAt(PlanId plan, Point source, TrialId trial) const;
  // O(these).
  std::vector<ReadyWork> All() const;
  // How many are not fresh.
  std::int64_t begun() const { return begun_; }

 private:
  struct Entry {
    Placed placed;
    TrainingPool* pool = nullptr;
  };
  static std::set<WaitingWork>& QueueOf(const Entry& entry);

  std::map<ReadyWork, Entry> waiting_;
  std::set<std::pair<TrialId, ReadyWork>> own_;
  std::map<std::string, TrainingPool> pools_;
  SlotLanes lanes_;
  std::int64_t begun_ = 0;
};

}  // namespace espalier
