// Devices, their slots, and what is reserved of them.
#include "protocol/device.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

const std::vector<Device> kDevices{
    {"gpu-0", DeviceType::kGpu, 3, 3000, 7}, {.name = "cores"}, {"gpu-1", DeviceType::kGpu, 2, 0, 1}};

}  // namespace

TEST_CASE("slots are numbered one device after the other") {
  CHECK(SlotCountOf(kDevices) == 6);
  const DeviceSlot slot = FindSlot(kDevices, 5).value();
  CHECK(slot.device == 2);
  CHECK(slot.index == 1);
  CHECK(slot.first == 4);
  CHECK_FALSE(FindSlot(kDevices, 6).has_value());
  CHECK_FALSE(FindSlot(kDevices, -1).has_value());
}

TEST_CASE("a slot has an equal share of all that its device has") {
  CHECK(ShareOf(kDevices, 1) == Reservation{0, 333, 1000, 2});
  CHECK(SharesOf(kDevices[0], 0, 2) == Reservation{0, 666, 2000, 4});
  CHECK(SharesOf(kDevices[0], 0, 3) == Reservation{0, 1000, 3000, 7});
  CHECK(ShareOf(kDevices, 3) == Reservation{1, 1000, 0, 0});
  for (const int slot : {4, 5}) {
    CHECK(ShareOf(kDevices, slot) == Reservation{2, 500, 0, 0});  // all slots run on the one core
  }
  const std::vector<Device> packed{{.name = "gpu-0", .slots = 8, .compute = 2500}};
  CHECK(ShareOf(packed, 7) == Reservation{0, 312, 0, 0});
}

TEST_CASE("a reservation says how many shares it takes, whatever its device is cut into") {
  for (int slots = 1; slots <= kDeviceSlotsMax; ++slots) {
    const std::vector<Device> devices{{.name = "cores", .slots = slots, .memory_bytes = 1234567}};
    for (const int count : {1, slots / 2, slots - 1, slots}) {
      if (count < 1) continue;
      CHECK(ShareCountOf(devices[0], SharesOf(devices[0], 0, count)) == count);
    }
  }
  CHECK(ShareCountOf({.name = "gpu", .slots = 4, .memory_bytes = 400}, {.compute = 10, .memory_bytes = 101}) == 2);
}

TEST_CASE("runs beside each other never reserve more than their device has") {
  const Device gpu{"gpu-0", DeviceType::kGpu, 8, 800, 6, 2500};
  Reserved held;
  held.Add({0, 1000, 100, 2});
  held.Add({0, 1000, 300, 1});
  CHECK(FitsBeside(gpu, held, {0, 500, 400, 3}));
  CHECK_FALSE(FitsBeside(gpu, held, {0, 501, 400, 3}));
  CHECK_FALSE(FitsBeside(gpu, held, {0, 500, 401, 3}));
  CHECK_FALSE(FitsBeside(gpu, held, {0, 500, 400, 4}));
  held.Remove({0, 1000, 300, 1});
  CHECK(FitsBeside(gpu, held, {0, 1500, 700, 4}));
  held.Add({0, 1, 1000, 100});
  CHECK(FitsBeside({.name = "unknown", .slots = 8, .compute = 2500}, held, {0, 1000, 1000, 100}));
}

TEST_CASE("what the devices do not have cannot be reserved") {
  const auto field_of = [](int slot, const Reservation& reservation) {
    const Result<void> fits = CheckReservation(kDevices, slot, reservation);
    return fits.has_value() ? "" : fits.error().field;
  };
  CHECK(field_of(0, {0, 1000, 3000, 7}).empty());
  CHECK(field_of(1, {0, 666, 2000, 5}).empty());
  CHECK(field_of(3, {1, 1000, 0, 3}).empty());  // of cores that are not counted
  CHECK(field_of(6, {0, 1000, 0, 0}) == "slot");
  CHECK(field_of(0, {1, 1000, 0, 0}) == "reservation.device");
  CHECK(field_of(1, {0, 1001, 0, 0}) == "reservation.compute");
  CHECK(field_of(0, {0, 0, 0, 0}) == "reservation.compute");
  CHECK(field_of(0, {0, 333, 3001, 0}) == "reservation.memory_bytes");
  CHECK(field_of(0, {0, 333, -1, 0}) == "reservation.memory_bytes");
  CHECK(field_of(0, {0, 333, 0, 8}) == "reservation.host_cores");
}

TEST_CASE("devices that cannot be are refused with the field") {
  const auto field_of = [](const std::vector<Device>& devices) {
    const Result<void> fits = CheckDevices(devices);
    return fits.has_value() ? "" : fits.error().field;
  };
  CHECK(field_of(kDevices).empty());
  CHECK(field_of({}).empty());
  CHECK(field_of(std::vector<Device>(kDevicesMax + 1)) == "devices");
  CHECK(field_of({{.name = ""}}) == "devices[0].name");
  CHECK(field_of({{.name = "a"}, {.name = "a"}}) == "devices[1].name");
  CHECK(field_of({{.name = "a", .slots = 0}}) == "devices[0].slot_count");
  CHECK(field_of({{.name = "a", .slots = kDeviceSlotsMax + 1}}) == "devices[0].slot_count");
  CHECK(field_of({{.name = "a", .compute = kWholeDevice - 1}}) == "devices[0].compute_thousandths");
  CHECK(field_of({{.name = "a", .compute = kComputeMax + 1}}) == "devices[0].compute_thousandths");
  CHECK(field_of({{.name = "a", .memory_bytes = -1}}) == "devices[0].memory_bytes");
  CHECK(field_of({{.name = "a", .host_cores = -1}}) == "devices[0].host_cores");
}

}  // namespace espalier
