#include "scheduler/server_room.h"

#include <algorithm>
#include <limits>

namespace espalier {
namespace {

// How many parts of that size are left; any number where nothing is known of the whole, or of the part.
std::int64_t PartsLeft(std::int64_t whole, std::int64_t taken, std::int64_t part) {
  if (whole == 0 || part == 0) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(0, (whole - taken) / part);
}

}  // namespace

ServerRoom::ServerRoom(const std::vector<Device>& devices, int host_cores) : host_cores_(host_cores) {
  int first = 0;
  for (int i = 0; i < std::ssize(devices); ++i) {
    DeviceRoom& room = devices_.emplace_back(DeviceRoom{.capacity = devices[static_cast<std::size_t>(i)],
                                                        .first = first,
                                                        .share = SharesOf(devices[static_cast<std::size_t>(i)], i, 1)});
    for (int slot = 0; slot < room.capacity.slots; ++slot) room.slots.insert(room.slots.end(), first + slot);
    first += room.capacity.slots;
  }
}

ServerRoom::DeviceRoom* ServerRoom::OfSlot(int slot) {
  const auto after = std::ranges::upper_bound(devices_, slot, {}, &DeviceRoom::first);
  if (after == devices_.begin()) return nullptr;
  DeviceRoom& room = *std::prev(after);
  return slot < room.first + room.capacity.slots ? &room : nullptr;
}

void ServerRoom::Take(int slot, const Reservation& reservation) {
  DeviceRoom* room = OfSlot(slot);
  if (room == nullptr) return;
  room->slots.erase(slot);
  room->reserved.Add(reservation);
  reserved_host_cores_ += reservation.host_cores;
}

void ServerRoom::Free(int slot, const Reservation& reservation) {
  DeviceRoom* room = OfSlot(slot);
  if (room == nullptr) return;
  room->slots.insert(slot);
  room->reserved.Remove(reservation);
  reserved_host_cores_ -= reservation.host_cores;
}

std::optional<int> ServerRoom::free_host_cores() const {
  return host_cores_ == 0 ? std::nullopt : std::optional(std::max(0, host_cores_ - reserved_host_cores_));
}

bool ServerRoom::Has(const DeviceRoom& device, const Reservation& wanted) const {
  return !device.slots.empty() && FitsBeside(device.capacity, device.reserved, wanted) &&
         wanted.host_cores <= free_host_cores().value_or(wanted.host_cores);
}

bool ServerRoom::Fits(int slot, const Reservation& wanted) const {
  const DeviceRoom& room = At(wanted.device);
  return room.slots.contains(slot) && Has(room, wanted);
}

std::optional<int> ServerRoom::SlotFor(const Reservation& wanted) const {
  const DeviceRoom& room = At(wanted.device);
  if (!Has(room, wanted)) return std::nullopt;
  const int count = ShareCountOf(room.capacity, wanted);
  int side_by_side = 0;
  int last = -2;
  for (const int slot : room.slots) {
    side_by_side = slot == last + 1 ? side_by_side + 1 : 1;
    last = slot;
    if (side_by_side >= count) return slot - count + 1;
  }
  return *room.slots.begin();
}

int ServerRoom::IdleSlotCount(int device) const {
  const DeviceRoom& room = At(device);
  const Device& capacity = room.capacity;
  const Reservation& share = room.share;
  return static_cast<int>(std::min({static_cast<std::int64_t>(room.slots.size()),
                                    PartsLeft(capacity.compute, room.reserved.compute, share.compute),
                                    PartsLeft(capacity.memory_bytes, room.reserved.memory_bytes, share.memory_bytes),
                                    PartsLeft(capacity.host_cores, room.reserved.host_cores, share.host_cores),
                                    PartsLeft(host_cores_, reserved_host_cores_, share.host_cores)}));
}

bool ServerRoom::IsIdle(int slot) const {
  return std::ranges::any_of(
      devices_, [&](const DeviceRoom& room) { return room.slots.contains(slot) && Has(room, room.share); });
}

bool ServerRoom::HasIdleSlot() const { return FirstIdleSlot().has_value(); }

std::optional<int> ServerRoom::FirstIdleSlot() const {
  for (int i = 0; i < device_count(); ++i) {
    if (Has(At(i), At(i).share)) return *At(i).slots.begin();
  }
  return std::nullopt;
}

std::optional<int> ServerRoom::LastIdleSlot() const {
  for (int i = device_count(); i-- > 0;) {
    if (Has(At(i), At(i).share)) return *At(i).slots.rbegin();
  }
  return std::nullopt;
}

}  // namespace espalier
