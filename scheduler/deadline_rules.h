// What training by a deadline is decided by (R. Liaw et al., HyperSched, SoCC 2019, sections 4 and 5). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/units.h"

namespace espalier {

// How fast training is on so many slots, against one: as it is said for some numbers of slots, between them straight,
// and beyond the last as there. REQUIRES: slots >= 1.
double SpeedOn(std::int64_t slots, const std::map<std::int64_t, double>& said);

// What is left until the deadline, and what training takes.
struct TimeToEnter {
  std::int64_t steps = 1;  // of the whole trial
  Seconds step{0};         // one, on one slot
  Seconds furthest{0};     // the longest time for which any trial has trained
  Seconds left{0};
};
// Whether a further trial may still come to something: it ends by then, or is trained `reduction` times as long as any
// so far (algorithm 3, line 8).
bool IsWorthEntering(const TimeToEnter& time, std::int64_t reduction);

// So many slots to so many trials, the best first, one by one in turn: the best have what does not go round. REQUIRES:
// trials >= 1. O(trials).
std::vector<std::int64_t> Deal(std::int64_t slots, std::size_t trials);

// Whether the steps until the deadline are more on the slots that it would have, what changing takes included.
bool IsWorthResizing(Seconds left, Seconds change, double speed, double speed_then);

}  // namespace espalier
