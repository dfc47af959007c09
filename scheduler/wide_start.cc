#include "scheduler/wide_start.h"

#include <algorithm>
#include <string>

namespace espalier {
namespace {

// Calls `take` with each device of the plan's servers.
template <class Take>
void EachDevice(PlanId plan, const View& view, const Take& take) {
  for (const std::string& server : view.ServersFor(plan)) {
    const ServerRoom* room = view.RoomOf(server);
    for (int device = 0; room != nullptr && device < room->device_count(); ++device) take(server, *room, device);
  }
}

}  // namespace

std::int64_t SlotsFor(PlanId plan, const View& view) {
  std::int64_t count = 0;
  EachDevice(plan, view,
             [&](const std::string&, const ServerRoom& room, int device) { count += room.device(device).slots; });
  return count;
}

std::int64_t MostSlotsFor(const RunView& run, const View& view) {
  int most = run.slots;
  EachDevice(run.plan, view, [&](const std::string& server, const ServerRoom& room, int device) {
    const bool is_own = server == run.slot.server && device == run.device;
    most = std::max(most, room.IdleSlotCount(device) + (is_own ? run.slots : 0));
  });
  return most;
}

std::optional<StartPath> StartOn(const ReadyWork& work, std::int64_t slots, const View& view) {
  std::optional<StartPath> start = view.StartOf(work);
  if (!start || slots == 1) return start;
  int most = 1;
  EachDevice(work.plan, view, [&](const std::string& server, const ServerRoom& room, int device) {
    const int count = static_cast<int>(std::min<std::int64_t>(slots, room.IdleSlotCount(device)));
    if (count <= most || !view.MayStart(work, server)) return;
    const Reservation wanted = SharesOf(room.device(device), device, count);
    const std::optional<int> slot = room.SlotFor(wanted);
    if (!slot) return;
    most = count;
    start->slot = {server, *slot};
    start->reservation = wanted;
  });
  return start;
}

}  // namespace espalier
