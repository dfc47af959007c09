// What is free on a server.
#include "scheduler/server_room.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

const std::vector<Device> kDevices{{"gpu-0", DeviceType::kGpu, 4, 4000, 0, 2000}, {.name = "cores", .slots = 2}};

}  // namespace

TEST_CASE("a slot is idle while it is free and an equal share of its device is left") {
  ServerRoom room(kDevices);
  CHECK(room.FirstIdleSlot() == 0);
  CHECK(room.LastIdleSlot() == 5);
  CHECK(room.IdleSlotCount(0) == 4);
  const Reservation half = SharesOf(kDevices[0], 0, 2);
  room.Take(1, half);
  CHECK(room.FirstIdleSlot() == 0);
  CHECK(room.IdleSlotCount(0) == 2);
  room.Take(0, {0, 1000, 1500, 0});
  CHECK(room.IdleSlotCount(0) == 0);  // slots are free, and too little memory is left
  CHECK(room.FirstIdleSlot() == 4);
  room.Free(1, half);
  CHECK(room.FirstIdleSlot() == 1);
  for (const int slot : {4, 5}) room.Take(slot, ShareOf(kDevices, slot));
  CHECK(room.LastIdleSlot() == 3);
  room.Take(1, {0, 1000, 0, 0});
  CHECK_FALSE(room.HasIdleSlot());
}

TEST_CASE("a run that takes less than a share fits where no slot is idle") {
  ServerRoom room(kDevices);
  room.Take(0, {0, 1800, 3900, 0});
  CHECK(room.IdleSlotCount(0) == 0);
  CHECK(room.SlotFor({0, 200, 100, 0}) == 1);
  CHECK_FALSE(room.SlotFor({0, 201, 100, 0}).has_value());
  CHECK_FALSE(room.SlotFor({0, 200, 101, 0}).has_value());
}

TEST_CASE("a run that takes several shares has a slot with as many free ones behind it, if there is one") {
  ServerRoom room(kDevices);
  room.Take(1, ShareOf(kDevices, 1));
  CHECK(room.SlotFor(SharesOf(kDevices[0], 0, 1)) == 0);
  CHECK(room.SlotFor(SharesOf(kDevices[0], 0, 2)) == 2);
  CHECK(room.SlotFor(SharesOf(kDevices[0], 0, 3)) == 0);
  CHECK_FALSE(room.SlotFor(SharesOf(kDevices[0], 0, 4)).has_value());
}

TEST_CASE("cores are those of the whole server") {
  ServerRoom room(kDevices, 6);
  room.Take(0, {0, 100, 0, 4});
  CHECK(room.free_host_cores() == 2);
  CHECK(room.Has({1, 500, 0, 2}));
  CHECK_FALSE(room.Has({1, 500, 0, 3}));
  CHECK(ServerRoom(kDevices).Has({1, 500, 0, 300}));
}

}  // namespace espalier
