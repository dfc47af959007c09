// What a server trains on: devices with capacities, and what runs hold of them. Each run that trains has a slot of its
// own, and reserves some of the slot's device: an equal share, unless it needs more or its policy says what it takes.
// The slots of a server's devices are numbered one device after the other. Values.
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
  int slots = 1;                  // runs at a time, at most: 1 to kDeviceSlotsMax
  std::int64_t memory_bytes = 0;  // of a GPU, its own; of cores, what all workers on them may allocate; 0: any, unknown
  int host_cores = 0;             // on which its workers run; 0: on all of the server's
  // Thousandths of the device's compute that runs may reserve together, kWholeDevice to kComputeMax: more than the
  // whole where several runs beside each other get more done, for none keeps the device busy all the time (HyperSack,
  // IV).
  int compute = 1000;
  friend bool operator==(const Device&, const Device&) = default;
};

inline constexpr int kWholeDevice = 1000;  // a device's compute, in thousandths
inline constexpr int kComputeMax = 100 * kWholeDevice;
inline constexpr int kDeviceSlotsMax = 1000;
inline constexpr int kDevicesMax = 256;  // of a server
inline constexpr int kHostCoresMax = 1 << 16;
inline constexpr std::int64_t kMemoryBytesMax = std::int64_t{1} << 50;

// What a run holds of one device while it trains. Bookkeeping: no trainer's bits depend on it.
struct Reservation {
  int device = 0;                 // of the server's, by its place among them
  int compute = kWholeDevice;     // thousandths of the device's, 1 to what it has
  std::int64_t memory_bytes = 0;  // of the device's; 0: any
  int host_cores = 0;             // of those that the device's workers run on; 0: all, beside others
  friend auto operator<=>(const Reservation&, const Reservation&) = default;
};

// What several runs hold of one device.
struct Reserved {
  int compute = 0;
  std::int64_t memory_bytes = 0;
  int host_cores = 0;
  void Add(const Reservation& reservation);
  void Remove(const Reservation& reservation);
  friend bool operator==(const Reserved&, const Reserved&) = default;
};

// Whether the device has the reservation left. Memory counts where its size is known.
bool FitsBeside(const Device& device, const Reserved& others, const Reservation& wanted);

int SlotCountOf(const std::vector<Device>& devices);

// Where a slot lies.
struct DeviceSlot {
  int device = 0;  // by its place among the server's
  int index = 0;   // of the device's slots
  int first = 0;   // the device's first slot, among the server's
};
// None: there is no such slot. O(devices).
std::optional<DeviceSlot> FindSlot(const std::vector<Device>& devices, int slot);

// So many of the equal shares into which its slots cut a device, the server's by that place, together. REQUIRES:
// 1 <= count <= its slots.
Reservation SharesOf(const Device& device, int place, int count);

// What a run on the slot reserves that needs no more than others. REQUIRES: there is such a slot.
Reservation ShareOf(const std::vector<Device>& devices, int slot);

// In how many shares the reservation fits, at least 1.
int ShareCountOf(const Device& device, const Reservation& reservation);

// Whether the slot's device has what is reserved. Error: kInvalidArgument with the field of the order, `slot` or
// `reservation...`.
Result<void> CheckReservation(const std::vector<Device>& devices, int slot, const Reservation& reservation);

// Whether there can be such devices: ranges, counts, names. Error: kInvalidArgument with the field, from `devices` on.
Result<void> CheckDevices(const std::vector<Device>& devices);

}  // namespace espalier
