#include "scheduler/demand.h"

#include <algorithm>

namespace espalier {
namespace {

constexpr int kMoreThanWhole = 2 * kWholeDevice;

// How many of `slots` equal parts of `whole` make up `wanted`; 0: all do not.
int PartsFor(std::int64_t wanted, std::int64_t whole, int slots) {
  if (wanted > whole) return 0;
  return static_cast<int>(std::max<std::int64_t>(1, (wanted * slots + whole - 1) / whole));
}

// Of all that the device's compute comes to, in thousandths.
int PartOf(const Device& device, const Reservation& reservation) {
  return kWholeDevice * reservation.compute / device.compute;
}

}  // namespace

int SharesFor(const Device& device, const Demand& demand) {
  if (demand.memory_bytes > 0 && device.memory_bytes > 0) {
    return PartsFor(demand.memory_bytes, device.memory_bytes, device.slots);
  }
  return PartsFor(demand.compute, kWholeDevice, device.slots);
}

Demand MoreThan(const Reservation& had, const Device& device) {
  const bool was_all = ShareCountOf(device, had) >= device.slots;
  if (was_all) return {.compute = kMoreThanWhole, .memory_bytes = 2 * had.memory_bytes};
  return {.compute = std::min(kWholeDevice, 2 * PartOf(device, had)),
          .memory_bytes = std::min(device.memory_bytes, 2 * had.memory_bytes)};
}

bool Suffices(const Reservation& reserved, const Device& device, const Demand& demand) {
  if (demand.memory_bytes > 0 && device.memory_bytes > 0) return reserved.memory_bytes >= demand.memory_bytes;
  return PartOf(device, reserved) >= demand.compute;
}

}  // namespace espalier
