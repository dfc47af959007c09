// A slot for a path, on a device that has left what the path takes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "master/core/state/demand.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

// Devices by server, whose room waits until it is enough for a path that takes several shares: no lesser path is given
// any of it.
using Held = std::map<std::string, std::set<int>>;

// Where a path can be trained, or could be once there is more room on a device.
class Rooms {
 public:
  Rooms(const MasterState& state, const Demand& demand, const Held& held)
      : state_(state), demand_(demand), held_(held) {}

  // O(devices + free slots of the server).
  bool Look(const Server& server) {
    const ServerRoom& room = state_.index.rooms.at(server.name);
    const auto held = held_.find(server.name);
    for (int device = 0; device < room.device_count(); ++device) {
      const int count = SharesFor(room.device(device), demand_);
      if (count == 0 || (held != held_.end() && held->second.contains(device))) continue;
      if (const auto slot = room.SlotFor(SharesOf(room.device(device), device, count))) {
        slot_ = SlotId{server.name, *slot};
        return true;
      }
      if (count > 1) Consider(server.name, device, room.IdleSlotCount(device));
    }
    return false;
  }

  const std::optional<SlotId>& slot() const { return slot_; }
  // The device with the most room, of those that have enough where nothing else runs.
  struct Place {
    std::string server;
    int device = 0;
  };
  const std::optional<Place>& fullest() const { return fullest_; }

 private:
  void Consider(const std::string& server, int device, int idle) {
    if (idle <= idle_most_) return;
    idle_most_ = idle;
    fullest_ = {server, device};
  }

  const MasterState& state_;
  const Demand& demand_;
  const Held& held_;
  std::optional<SlotId> slot_;
  std::optional<Place> fullest_;
  int idle_most_ = 0;
};

}  // namespace espalier::master
