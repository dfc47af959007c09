#include "sim/shared_gpu.h"

#include <algorithm>
#include <numeric>

namespace espalier::sim {
namespace {

constexpr double kLostToEach = 0.01;
constexpr double kLeast = 0.01;

}  // namespace

double BusyTogether(std::span<const double> utilizations) {
  double idle = 1;
  for (const double utilization : utilizations) idle *= 1 - utilization;
  return 1 - idle;
}

double SpeedTogether(std::span<const double> utilizations) {
  const double sum = std::accumulate(utilizations.begin(), utilizations.end(), 0.0);
  const double kept = 1 - kLostToEach * static_cast<double>(utilizations.size() - 1);
  return std::max(kLeast, BusyTogether(utilizations) / sum * kept);
}

}  // namespace espalier::sim
