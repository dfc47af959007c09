#include "searchplan/sequence/near_miss.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace espalier {
namespace {

// Of a stretch under one function in each sequence.
constexpr std::int64_t kNearStepsMax = 1024;
constexpr std::int64_t kFarSteps = 64;

struct Difference {
  std::optional<Step> first;  // at which the values are not equal
  double size = 0;            // there
  std::optional<Step> real;   // the first on which they differ by more than rounding
};

// Both functions at one step after another.
class Comparison {
 public:
  Comparison(const Function& a, const Function& b) : a_(a), b_(b) {}

  // Returns whether to go on.
  bool LookAt(Step step) {
    const double a = std::get<double>(At(a_, step));
    const double b = std::get<double>(At(b_, step));
    const double size = std::abs(a - b);
    if (size == 0) return true;
    if (size > kRoundingDifferenceMax * std::max(std::abs(a), std::abs(b))) {
      difference_.real = step;
      return false;
    }
    if (!difference_.first.has_value()) {
      difference_.first = step;
      difference_.size = size;
    }
    return true;
  }

  const Difference& difference() const { return difference_; }

 private:
  const Function& a_;
  const Function& b_;
  Difference difference_;
};

Difference DifferenceOf(const Function& a, const Function& b, Step start, Step end) {
  if (a == b) return {};
  Comparison comparison(a, b);
  if (std::holds_alternative<Constant>(a.primitive) && std::holds_alternative<Constant>(b.primitive)) end = start + 1;
  const Step near_end = std::min(end, start + kNearStepsMax);
  for (Step step = start; step < near_end; step = step + 1) {
    if (!comparison.LookAt(step)) return comparison.difference();
  }
  const std::int64_t stride = std::max<std::int64_t>(1, (end - near_end) / kFarSteps);
  for (Step step = near_end; step < end; step = step + stride) {
    if (!comparison.LookAt(step)) return comparison.difference();
  }
  if (near_end < end) comparison.LookAt(end - 1);
  return comparison.difference();
}

// Where the segment ends, or the horizon.
Step EndOf(const Sequence& sequence, std::size_t index, Step horizon) {
  return index + 1 < sequence.segments.size() ? std::min(sequence.segments[index + 1].start, horizon) : horizon;
}

std::string PrintShort(double number) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::general, 2);
  return {buffer.data(), end.ptr};
}

}  // namespace

std::optional<NearMiss> FindNearMiss(const Sequence& a, const Sequence& b) {
  if (a.type != ValueType::kFloating || b.type != ValueType::kFloating) return std::nullopt;
  const Step horizon = std::min(a.horizon, b.horizon);
  std::optional<NearMiss> found;
  std::size_t index_a = 0;
  std::size_t index_b = 0;
  for (Step start{0}; start < horizon;) {
    const Step end_a = EndOf(a, index_a, horizon);
    const Step end_b = EndOf(b, index_b, horizon);
    const Step end = std::min(end_a, end_b);
    const Difference difference = DifferenceOf(a.segments[index_a].function, b.segments[index_b].function, start, end);
    if (difference.real.has_value()) {
      if (found.has_value()) found->to = *difference.real;
      return found;
    }
    if (!found.has_value() && difference.first.has_value()) {
      found = NearMiss{*difference.first, difference.size, horizon};
    }
    if (end == end_a) ++index_a;
    if (end == end_b) ++index_b;
    start = end;
  }
  return found;
}

std::string Describe(const NearMiss& near_miss, Step horizon) {
  const std::string text =
      "these two differ by " + PrintShort(near_miss.difference) + " from step " + std::to_string(near_miss.from.value);
  return near_miss.to < horizon ? text + " up to step " + std::to_string(near_miss.to.value) : text + " on";
}

}  // namespace espalier
