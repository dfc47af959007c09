#include "protocol/device.h"

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

// The part of `whole` that the slots [first, last) have, in equal shares.
std::int64_t ShareOf(std::int64_t whole, int first, int last, int slots) {
  return whole * last / slots - whole * first / slots;
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

Reservation ReservationOf(const std::vector<Device>& devices, int slot, int count) {
  const std::optional<DeviceSlot> at = FindSlot(devices, slot);
  ESPALIER_CHECK(at.has_value()) << "there is no slot " << slot;
  const Device& device = devices[static_cast<std::size_t>(at->device)];
  ESPALIER_CHECK(count >= 1 && at->index + count <= device.slots) << "device " << device.name << " ends before";
  const int last = at->index + count;
  const bool shares_cores = device.host_cores >= device.slots;
  return {.device = at->device,
          .compute = kWholeDevice * count / device.slots,
          .memory_bytes = ShareOf(device.memory_bytes, 0, count, device.slots),
          .host_cores = shares_cores ? static_cast<int>(ShareOf(device.host_cores, at->index, last, device.slots))
                                     : device.host_cores};
}

int SlotsOf(const Device& device, const Reservation& reservation) {
  return std::max(1, (reservation.compute * device.slots + kWholeDevice - 1) / kWholeDevice);
}

Result<void> CheckReservation(const std::vector<Device>& devices, int slot, const Reservation& reservation) {
  const std::optional<DeviceSlot> at = FindSlot(devices, slot);
  if (!at.has_value()) return Defect("there is no slot " + std::to_string(slot), "slot");
  const std::string field = "reservation.";
  if (reservation.device != at->device) {
    return Defect("slot " + std::to_string(slot) + " is of device " + std::to_string(at->device), field + "device");
  }
  const Device& device = devices[static_cast<std::size_t>(at->device)];
  ESPALIER_RETURN_IF_ERROR(CheckRange(reservation.compute, 1, kWholeDevice, field + "compute"));
  if (at->index + SlotsOf(device, reservation) > device.slots) {
    return Defect("device " + device.name + " has not so much from slot " + std::to_string(slot) + " on",
                  field + "compute");
  }
  ESPALIER_RETURN_IF_ERROR(CheckRange(reservation.memory_bytes, 0, device.memory_bytes, field + "memory_bytes"));
  return CheckRange(reservation.host_cores, 0, device.host_cores, field + "host_cores");
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
    ESPALIER_RETURN_IF_ERROR(CheckRange(device.memory_bytes, 0, kMemoryBytesMax, field + "memory_bytes"));
    ESPALIER_RETURN_IF_ERROR(CheckRange(device.host_cores, 0, kHostCoresMax, field + "host_cores"));
  }
  return {};
}

}  // namespace espalier
