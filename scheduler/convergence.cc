#include "scheduler/convergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier {
namespace {

constexpr double kLossMax = 1e6;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

int MilestonesAt(double loss, double first_loss) {
  if (first_loss <= 0) return 0;
  int passed = 0;
  for (double milestone = first_loss / 2; passed < kMilestones && loss <= milestone; milestone /= 2) ++passed;
  return passed;
}

}  // namespace

void SliceLosses::Add(double loss) {
  if (!(std::abs(loss) <= kLossMax)) loss = kInfinite;
  if (++count == 1) first = least = most = loss;
  last = loss;
  least = std::min(least, loss);
  most = std::max(most, loss);
}

Convergence After(const std::optional<Convergence>& before, const SliceLosses& slice) {
  if (slice.most == kInfinite || (before && before->rate == -kInfinite)) return {.rate = -kInfinite};
  const double loss = (slice.most + slice.least) / 2;
  const auto count = static_cast<double>(slice.count);
  if (!before) {
    const double span = (slice.most - slice.least) / count;
    return {.rate = slice.last > slice.first ? -span : span, .loss = loss, .first_loss = loss};
  }
  return {.rate = (before->loss - loss) / count,
          .loss = loss,
          .first_loss = before->first_loss,
          .milestones = std::max(before->milestones, MilestonesAt(loss, before->first_loss))};
}

}  // namespace espalier
