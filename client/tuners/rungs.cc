#include "client/tuners/rungs.h"

#include <cmath>

#include "base/check.h"

namespace espalier::tuners {
namespace {

// 0: a number, 1: NaN, 2: no result at all.
int Class(const Outcome& outcome) {
  const auto* measured = std::get_if<Measured>(&outcome);
  if (measured == nullptr) return 2;
  return std::isnan(measured->value) ? 1 : 0;
}

}  // namespace

std::vector<Step> Rungs(Step least, Step most, std::int64_t reduction) {
  ESPALIER_CHECK(least.value >= 1 && least <= most && most <= kStepMax && reduction >= 2) << "rungs out of range";
  std::vector<Step> rungs;
  std::int64_t rung = least.value;
  while (rung < most.value) {
    rungs.push_back(Step{rung});
    if (rung > most.value / reduction) break;  // the next one is past `most`, and might be past all integers
    rung *= reduction;
  }
  rungs.push_back(most);
  return rungs;
}

bool Better(const Outcome& a, const Outcome& b) {
  const int class_a = Class(a);
  const int class_b = Class(b);
  if (class_a != class_b) return class_a < class_b;
  return class_a == 0 && std::get<Measured>(a).value < std::get<Measured>(b).value;
}

}  // namespace espalier::tuners
