// How many numbers there are between neighbouring powers of two: tells the least and the largest of a changing
// multitude within a factor of two, in constant room, whatever was added, replaced or joined in whatever order.
// A plain value.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace espalier {

class Magnitudes {
 public:
  // `count` more of them, or fewer. REQUIRES: number >= 0; never fewer than none.
  void Add(double number, std::int64_t count) { counts_[IndexOf(number)] += count; }

  Magnitudes& operator+=(const Magnitudes& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    return *this;
  }

  // Above the least number: at most twice that, or 2^-10. REQUIRES: there is one.
  double LeastRoundedUp() const {
    const auto first = std::find_if(counts_.begin(), counts_.end(), [](std::int64_t count) { return count > 0; });
    return std::ldexp(1.0, static_cast<int>(first - counts_.begin()) - kBelowOne);
  }

  // At most the largest number, and more than half of it; 0 if that is below 2^-10. REQUIRES: there is one.
  double LargestRoundedDown() const {
    const auto last = std::find_if(counts_.rbegin(), counts_.rend(), [](std::int64_t count) { return count > 0; });
    const int index = static_cast<int>(counts_.rend() - last) - 1;
    return index == 0 ? 0 : std::ldexp(1.0, index - 1 - kBelowOne);
  }

  friend bool operator==(const Magnitudes&, const Magnitudes&) = default;

 private:
  static constexpr int kBelowOne = 10;
  static constexpr int kCount = 80;  // up to 2^69

  // 0: below 2^-10; then one a power.
  static std::size_t IndexOf(double number) {
    int exponent = -kBelowOne;
    if (number > 0) std::frexp(number, &exponent);  // 2^(exponent - 1) <= number < 2^exponent
    return static_cast<std::size_t>(std::clamp(exponent + kBelowOne, 0, kCount - 1));
  }

  std::array<std::int64_t, kCount> counts_{};
};

}  // namespace espalier
