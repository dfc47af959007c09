// What a server trains on: devices with capacities, and what runs hold of them. A device is cut into equal shares, its
// slots; those of a server's devices are numbered one device after the other. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier {

enum class DeviceType {
  kCores,  // a set of CPU cores
  kGpu,    // a GPU, or several that are used together
};
std::string_view Name(DeviceType type);

struct Device {
  std::string name;  // for people; differs from those of the server's other devices
  DeviceType type = DeviceType::kCores;
  int slots = 1;  // equal shares, 1 to kDeviceSlotsMax
  std::int64_t memory_bytes =
      0;               // of a GPU, its own; of cores, what all workers on them may allocate. 0: any, or unknown
  int host_cores = 0;  // on which its workers run; 0: on all of the server's
  friend bool operator==(const Device&, const Device&) = default;
};

inline constexpr int kWholeDevice = 1000;  // a device's compute, in thousandths
inline constexpr int kDeviceSlotsMax = 1000;
inline constexpr int kDevicesMax = 256;  // of a server
inline constexpr int kHostCoresMax = 1 << 16;
inline constexpr std::int64_t kMemoryBytesMax = std::int64_t{1} << 50;

// What a run holds of one device while it trains. Bookkeeping: no trainer's bits depend on it.
struct Reservation {
  int device = 0;                 // of the server's, by its place among them
  int compute = kWholeDevice;     // thousandths of the device's, 1 to kWholeDevice
  std::int64_t memory_bytes = 0;  // of the device's; 0: any
  int host_cores = 0;             // of those that the device's workers run on; 0: all
  friend auto operator<=>(const Reservation&, const Reservation&) = default;
};

int SlotCountOf(const std::vector<Device>& devices);

// Where a slot lies.
struct DeviceSlot {
  int device = 0;  // by its place among the server's
  int index = 0;   // of the device's slots
  int first = 0;   // the device's first slot, among the server's
};
// None: there is no such slot. O(devices).
std::optional<DeviceSlot> FindSlot(const std::vector<Device>& devices, int slot);

// What a run holds that has `count` slots of one device, from `slot` on. REQUIRES: they are there.
Reservation ReservationOf(const std::vector<Device>& devices, int slot, int count = 1);

// How many of the device's slots the reservation takes, at least 1.
int SlotsOf(const Device& device, const Reservation& reservation);

// Whether the devices have what is reserved, from the slot on. Error: kInvalidArgument with the field of the order,
// `slot` or `reservation...`.
Result<void> CheckReservation(const std::vector<Device>& devices, int slot, const Reservation& reservation);

// Whether there can be such devices: ranges, counts, names. Error: kInvalidArgument with the field, from `devices` on.
Result<void> CheckDevices(const std::vector<Device>& devices);

}  // namespace espalier
