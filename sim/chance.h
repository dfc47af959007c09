// All that a simulation leaves to chance, from one seed: the same seed, the same simulation on every machine. One
// thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "base/units.h"

namespace espalier::sim {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  // A whole number, least <= n <= most.
  std::int64_t Whole(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool OneIn(std::int64_t count) { return Whole(1, count) == 1; }
  // 0 <= x < 1.
  double Share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  Seconds Between(double least, double most) { return Seconds(least + Share() * (most - least)); }
  // From `least` on, in doublings: as likely within one order of magnitude as within another.
  Seconds Magnitude(double least, double most) {
    std::int64_t doublings = 0;
    while (std::ldexp(least, static_cast<int>(doublings) + 1) <= most) ++doublings;
    return Seconds(std::ldexp(least, static_cast<int>(Whole(0, doublings))));
  }
  // About `typical`: half to one and a half times.
  Seconds About(Seconds typical) { return typical * (0.5 + Share()); }

  // REQUIRES: not empty.
  template <class T>
  const T& OneOf(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(Whole(0, std::ssize(items) - 1))];
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace espalier::sim
