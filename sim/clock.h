// Virtual time: what is to happen, in the order of its moments; what falls on one moment, in the order in which it was
// asked for. Nothing happens but by RunNext, and time passes only there. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/units.h"

namespace espalier::sim {

class Clock {
 public:
  // Since the simulation began.
  Seconds now() const { return now_; }
  Moment moment() const { return Moment(now_); }
  // By the wall clock. The simulation began a quarter of an hour before midnight (UTC), in 2001.
  Time time() const;

  // A delay below 0 counts as 0. O(log of what is to happen).
  void After(Seconds delay, std::function<void()> what);

  // Lets the next thing happen, if its moment is not past `until`; false if there is none, and it is `until` now.
  bool RunNext(Seconds until);

 private:
  using Place = std::pair<Seconds, std::uint64_t>;  // the moment, and the number of the request

  Seconds now_{0};
  std::uint64_t next_number_ = 0;
  std::map<Place, std::function<void()>> agenda_;
};

}  // namespace espalier::sim
