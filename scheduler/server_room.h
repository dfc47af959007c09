// What is free on a server: slots, and what the runs on them leave of its devices and of its cores. A value.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "protocol/device.h"

namespace espalier {

class ServerRoom {
 public:
  // All of it. `host_cores`: of the server; 0: not known, and then any number may be reserved.
  explicit ServerRoom(const std::vector<Device>& devices, int host_cores = 0);

  // Nothing of a slot that is not there. REQUIRES: it is free, or taken as it says. O(log slots).
  void Take(int slot, const Reservation& reservation);
  void Free(int slot, const Reservation& reservation);

  int device_count() const { return static_cast<int>(devices_.size()); }
  const Device& device(int device) const { return At(device).capacity; }
  const Reserved& reserved(int device) const { return At(device).reserved; }
  const Reservation& share(int device) const { return At(device).share; }  // of one of its slots
  bool HasFreeSlot(int device) const { return !At(device).slots.empty(); }
  // Cores of the server that nobody has reserved; none: not known how many there are.
  std::optional<int> free_host_cores() const;

  // Whether a slot of the device is free, and what is to be reserved is left of the device and of the server. O(1).
  bool Has(const Reservation& wanted) const { return Has(At(wanted.device), wanted); }
  // The same of this slot. O(log slots).
  bool Fits(int slot, const Reservation& wanted) const;
  // A slot for it: one with as many free ones behind it as it takes shares, if there is one, for they share their
  // device's cores in that order. None: it does not fit. O(free slots of the device).
  std::optional<int> SlotFor(const Reservation& wanted) const;

  // A slot is idle if it is free and an equal share of its device is left for it. All O(devices).
  bool IsIdle(int slot) const;  // no slot that is not there
  bool HasIdleSlot() const;
  std::optional<int> FirstIdleSlot() const;
  std::optional<int> LastIdleSlot() const;
  // How many runs with equal shares the device could take. O(1).
  int IdleSlotCount(int device) const;

 private:
  struct DeviceRoom {
    Device capacity;
    int first = 0;        // its first slot
    Reservation share;    // of one slot
    std::set<int> slots;  // free ones, by their numbers on the server
    Reserved reserved;
  };
  const DeviceRoom& At(int device) const { return devices_.at(static_cast<std::size_t>(device)); }
  DeviceRoom* OfSlot(int slot);  // null: there is no such slot
  bool Has(const DeviceRoom& device, const Reservation& wanted) const;

  std::vector<DeviceRoom> devices_;
  int host_cores_ = 0;
  int reserved_host_cores_ = 0;
};

}  // namespace espalier
