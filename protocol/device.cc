#include "protocol/device.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/enum_names.h"

namespace espalier {
namespace {

constexpr EnumName<DeviceType> kDeviceTypes[] = {{DeviceType::kCores, "cores"}, {DeviceType::kGpu, "gpu"}};

constexpr std::size_t kNameBytesMax = 200;

tl::unexpected<Error> Defect(std::string message, std::string field) {
  return MakeError(ErrorCode::kInvalidArgument, std::move(message), std::move(field));
}

Result<void> CheckRange(std::int64_t value, std::int64_t least, std::int64_t most, const std::string& field) {
  if (value >= least && value <= most) return {};
  return Defect("expected " + std::to_string(least) + " to " + std::to_string(most) + ", got " + std::to_string(value),
                field);
}

// How many of `count` equal shares of `whole` it takes to hold `part`.
int SharesFor(std::int64_t part, std::int64_t whole, int count) {
  return static_cast<int>((part * count + whole - 1) / whole);
}

}  // namespace

std::string_view Name(DeviceType type) { return NameIn(kDeviceTypes, type); }

int SlotCountOf(const std::vector<Device>& devices) {
  int count = 0;
  for (const Device& device : devices) count += device.slots;
  return count;
}

std::optional<DeviceSlot> FindSlot(const std::vector<Device>& devices, int slot) {
  DeviceSlot found;
  for (const Device& device : devices) {
    found.index = slot - found.first;
    if (found.index >= 0 && found.index < device.slots) return found;
    ++found.device;
    found.first += device.slots;
  }
  return std::nullopt;
}

Reservation SharesOf(const Device& device, int place, int count) {
  const int slots = device.slots;
  ESPALIER_CHECK(count >= 1 && count <= slots) << "device " << device.name << " has " << slots << " shares";
  return {.device = place,
          .compute = device.compute * count / slots,
          .memory_bytes = device.memory_bytes * count / slots,
          .host_cores = device.host_cores >= slots ? device.host_cores * count / slots : 0};
}

Reservation ShareOf(const std::vector<Device>& devices, int slot) {
  const std::optional<DeviceSlot> at = FindSlot(devices, slot);
  ESPALIER_CHECK(at.has_value()) << "there is no slot " << slot;
  return SharesOf(devices[static_cast<std::size_t>(at->device)], at->device, 1);
}

int ShareCountOf(const Device& device, const Reservation& reservation) {
  int count = SharesFor(reservation.compute, device.compute, device.slots);
  if (device.memory_bytes > 0) {
    count = std::max(count, SharesFor(reservation.memory_bytes, device.memory_bytes, device.slots));
  }
  return std::max(1, count);
}

void Reserved::Add(const Reservation& reservation) {
  compute += reservation.compute;
  memory_bytes += reservation.memory_bytes;
  host_cores += reservation.host_cores;
}

void Reserved::Remove(const Reservation& reservation) {
  compute -= reservation.compute;
  memory_bytes -= reservation.memory_bytes;
  host_cores -= reservation.host_cores;
}

bool FitsBeside(const Device& device, const Reserved& others, const Reservation& wanted) {
  return others.compute + wanted.compute <= device.compute &&
         (device.memory_bytes == 0 || others.memory_bytes + wanted.memory_bytes <= device.memory_bytes) &&
         (device.host_cores == 0 || others.host_cores + wanted.host_cores <= device.host_cores);
}

Result<void> CheckReservation(const std::vector<Device>& devices, int slot, const Reservation& reservation) {
  const std::optional<DeviceSlot> at = FindSlot(devices, slot);
  if (!at.has_value()) return Defect("there is no slot " + std::to_string(slot), "slot");
  const std::string field = "reservation.";
  if (reservation.device != at->device) {
    return Defect("slot " + std::to_string(slot) + " is of device " + std::to_string(at->device), field + "device");
  }
  const Device& device = devices[static_cast<std::size_t>(at->device)];
  ESPALIER_RETURN_IF_ERROR(CheckRange(reservation.compute, 1, device.compute, field + "compute"));
  ESPALIER_RETURN_IF_ERROR(CheckRange(reservation.memory_bytes, 0, device.memory_bytes, field + "memory_bytes"));
  return CheckRange(reservation.host_cores, 0, device.host_cores == 0 ? kHostCoresMax : device.host_cores,
                    field + "host_cores");
}

Result<void> CheckDevices(const std::vector<Device>& devices) {
  if (devices.size() > kDevicesMax) {
    return Defect("expected at most " + std::to_string(kDevicesMax) + ", got " + std::to_string(devices.size()),
                  "devices");
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    const std::string field = "devices[" + std::to_string(i) + "].";
    if (device.name.empty() || device.name.size() > kNameBytesMax) {
      return Defect("expected 1 to " + std::to_string(kNameBytesMax) + " bytes", field + "name");
    }
    if (!names.insert(device.name).second) return Defect("another device has it, too", field + "name");
    ESPALIER_RETURN_IF_ERROR(CheckRange(device.slots, 1, kDeviceSlotsMax, field + "slot_count"));
    ESPALIER_RETURN_IF_ERROR(CheckRange(device.compute, kWholeDevice, kComputeMax, field + "compute_thousandths"));
    ESPALIER_RETURN_IF_ERROR(CheckRange(device.memory_bytes, 0, kMemoryBytesMax, field + "memory_bytes"));
    ESPALIER_RETURN_IF_ERROR(CheckRange(device.host_cores, 0, kHostCoresMax, field + "host_cores"));
  }
  return {};
}

}  // namespace espalier
