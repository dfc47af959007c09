#include "scheduler/cost_sums.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace espalier {
namespace {

constexpr Seconds kTimeUnmeasured{1};

// Of a microsecond, or a byte. Keeps estimates positive where a clock saw no time pass.
constexpr double kEstimateMin = 1e-3;

constexpr double kClip = 8;
constexpr double kBelowLeast = 100;
constexpr double kAboveLargest = 8;

WeightedTarget Weighted(Measurement measurement) {
  if (measurement.count == 0) return {};
  const std::int64_t weight = std::min(measurement.count, kWeightMax);
  __int128 total = measurement.total;
  if (weight < measurement.count) total = (total * weight + measurement.count / 2) / measurement.count;
  return {weight, static_cast<std::int64_t>(std::min<__int128>(total, __int128{weight} * kTargetMax))};
}

}  // namespace

void CostSums::Replace(CostKind kind, const Features& features, Measurement before, Measurement after) {
  OneKind& one = kinds_[static_cast<std::size_t>(kind)];
  one.regression.Replace(features, Weighted(before), Weighted(after));
  if (before.count > 0) one.means.Add(Mean(before), -1);
  one.means.Add(Mean(after), 1);
}

CostSums& CostSums::operator+=(const CostSums& other) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    kinds_[i].regression += other.kinds_[i].regression;
    kinds_[i].means += other.kinds_[i].means;
  }
  return *this;
}

bool CostSums::IsMeasured(CostKind kind) const { return !Of(kind).regression.empty(); }

std::optional<double> CostSums::Estimate(CostKind kind, const Features& features, Measurement own) const {
  if (own.count > 0) return std::max(kEstimateMin, Mean(own));
  if (!IsMeasured(kind)) return std::nullopt;
  const OneKind& one = Of(kind);
  const double most = one.means.LargestRoundedDown() * kAboveLargest;
  const double least = std::max(kEstimateMin, one.means.LeastRoundedUp() / kBelowLeast);
  return std::max(least, std::min(most, one.regression.Predict(features)));
}

Seconds CostSums::Time(CostKind kind, const Features& features, Measurement own) const {
  ESPALIER_CHECK(IsTime(kind)) << Name(kind) << " is no time";
  const std::optional<double> microseconds = Estimate(kind, features, own);
  if (!microseconds) return kTimeUnmeasured;
  return std::chrono::duration<double, std::micro>(*microseconds);
}

Measurement Clipped(std::optional<double> estimate, Measurement own, Measurement reported) {
  ESPALIER_CHECK(reported.count > 0) << "nothing reported";
  if (!estimate) return reported;
  const double least = *estimate / kClip;
  const double most = std::max(1.0, *estimate) * kClip;
  const double mean = Mean(reported);
  if (least <= mean && mean <= most) return reported;
  const std::int64_t count = std::min(reported.count, std::max(std::int64_t{1}, own.count));
  const auto units = static_cast<double>(count);
  const double total = mean < least ? std::ceil(units * least) : std::floor(units * most);
  return {count, static_cast<std::int64_t>(std::min(total, static_cast<double>(kMeasuredTotalMax)))};
}

}  // namespace espalier
