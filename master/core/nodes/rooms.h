// Several idle slots of one device, for a path that takes more than one.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "master/core/state/demand.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

// Devices by server, whose idle slots wait until there are enough of them for a path that takes several: no lesser path
// is given one.
using Held = std::set<std::pair<std::string, int>>;

// Where a path that takes more than a slot can be trained, or could be once more slots of a device are idle.
class Rooms {
 public:
  Rooms(const MasterState& state, const Demand& demand, const Held& held)
      : state_(state), demand_(demand), held_(held) {}

  // O(slots of the server).
  bool Look(const Server& server) {
    int first = 0;
    for (int device = 0; device < std::ssize(server.devices) && !room_; ++device) {
      const Device& each = server.devices[static_cast<std::size_t>(device)];
      const int slots = SlotsFor(each, demand_);
      if (slots > 0 && !held_.contains({server.name, device})) LookAt(server, device, first, each.slots, slots);
      first += each.slots;
    }
    return room_.has_value();
  }

  struct Room {
    SlotId slot;
    int slots = 1;
  };
  const std::optional<Room>& room() const { return room_; }
  // Of those that have enough slots, the device with the most idle ones.
  const std::optional<Held::value_type>& fullest() const { return fullest_; }

 private:
  void LookAt(const Server& server, int device, int first, int count, int slots) {
    const std::set<int>& idle = state_.index.idle_slots.at(server.name);
    int idle_count = 0;
    int side_by_side = 0;
    int last = first - 2;
    for (auto slot = idle.lower_bound(first); slot != idle.end() && *slot < first + count; ++slot) {
      side_by_side = *slot == last + 1 ? side_by_side + 1 : 1;
      last = *slot;
      ++idle_count;
      if (side_by_side < slots) continue;
      room_ = Room{{server.name, last - slots + 1}, slots};
      return;
    }
    if (idle_count <= idle_most_) return;
    idle_most_ = idle_count;
    fullest_ = {server.name, device};
  }

  const MasterState& state_;
  const Demand& demand_;
  const Held& held_;
  std::optional<Room> room_;
  std::optional<Held::value_type> fullest_;
  int idle_most_ = 0;
};

}  // namespace espalier::master
