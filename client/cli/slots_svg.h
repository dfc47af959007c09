// A picture of what slots were used for, as an SVG document: of each schedule the share of slots that were held over
// time, and one lane a slot, coloured by study. Schedules stand below each other on one axis of time. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"

namespace espalier {

struct DrawnSlot {
  std::string server;
  int index = 0;
  friend auto operator<=>(const DrawnSlot&, const DrawnSlot&) = default;
};

// A run's time on its slot.
struct HeldSlots {
  DrawnSlot slot;
  int count = 1;  // in the equal shares of so many slots that fits which it has of the slot's device
  Seconds from{0};
  Seconds until{0};
  std::map<std::size_t, double> shares;  // of its device time, by studies' places in the picture; sum at most 1
  std::string label;                     // shown by a pointer that stands on it
};

// One schedule. Slots that `slots` does not have are not drawn.
struct SlotSchedule {
  std::string title;
  std::vector<DrawnSlot> slots;  // top to bottom, those of a server together
  std::vector<HeldSlots> held;
  Seconds end{0};  // until then its utilization counts
};

// More lanes of a schedule are not drawn, which the picture says.
inline constexpr std::size_t kDrawnSlotsMax = 2000;

// The share of `schedule.slots` that was held until its end, 0 to 1; 0 if there is no slot or no time. O(held).
double UtilizationOf(const SlotSchedule& schedule);

// Readable on light and dark screens. What is too narrow to be told apart is drawn as one: the document's size is
// bounded by the lanes, not by the runs. O(held log held).
std::string SlotsSvg(const std::string& title, const std::vector<std::string>& studies,
                     const std::vector<SlotSchedule>& schedules);

}  // namespace espalier
