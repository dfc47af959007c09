#include "scheduler/checkpoint_cache.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace espalier {
namespace {

double SlopeOf(std::int64_t bytes, const CacheValue& value) {
  return static_cast<double>(std::max<std::int64_t>(1, bytes)) /
         (static_cast<double>(value.uses) * static_cast<double>(value.remake_time));
}

// Four rows between a slope and its double: the largest of a row is at most 5/4 of its least.
int RowOf(double slope) {
  constexpr int kRows = 4;
  int exponent = 0;
  const double mantissa = std::frexp(slope, &exponent);  // from 1/2 to below 1
  return kRows * exponent + static_cast<int>((mantissa - 0.5) * 2 * kRows);
}

}  // namespace

void CheckpointCache::Add(Point point, PlanId plan, std::int64_t bytes) {
  Remove(point);
  entries_.emplace(point, Entry{.plan = plan, .bytes = bytes, .value = {}});
  bytes_ += bytes;
}

void CheckpointCache::Remove(Point point) {
  const auto entry = entries_.find(point);
  if (entry == entries_.end()) return;
  Unlist(point, entry->second);
  bytes_ -= entry->second.bytes;
  entries_.erase(entry);
}

void CheckpointCache::Unlist(Point point, const Entry& entry) {
  if (entry.standing == Standing::kNeeded) return;
  BytesIn(entry.standing) -= entry.bytes;
  Rows& rows = RowsOf(entry.standing);
  const auto row = rows.find(RowOf(SlopeOf(entry.bytes, entry.value)));
  row->second.erase({entry.value.last_used, point});
  if (row->second.empty()) rows.erase(row);
}

void CheckpointCache::SetStanding(Point point, Standing standing, const CacheValue& value) {
  const auto found = entries_.find(point);
  ESPALIER_CHECK(found != entries_.end()) << "no checkpoint at step " << point.step.value;
  Entry& entry = found->second;
  Unlist(point, entry);
  entry.standing = standing;
  entry.value = value;
  if (standing == Standing::kNeeded) return;
  BytesIn(standing) += entry.bytes;
  RowsOf(standing)[RowOf(SlopeOf(entry.bytes, value))].insert({value.last_used, point});
}

std::int64_t CheckpointCache::BytesThatGoBefore(Standing standing) const {
  switch (standing) {
    case Standing::kNeeded:
      return bytes_;
    case Standing::kOpenTrial:
      return idle_bytes_ + open_bytes_;
    case Standing::kIdle:
      return idle_bytes_;
  }
  return 0;
}

std::int64_t CheckpointCache::BytesOf(Point point) const {
  const auto entry = entries_.find(point);
  return entry == entries_.end() ? 0 : entry->second.bytes;
}

std::optional<Standing> CheckpointCache::StandingOf(Point point) const {
  const auto entry = entries_.find(point);
  return entry == entries_.end() ? std::nullopt : std::optional(entry->second.standing);
}

std::optional<Point> CheckpointCache::FirstOf(const Rows& rows, Time now) const {
  std::optional<Point> first;
  double largest = 0;
  for (const auto& [row, points] : rows) {
    const auto& [last_used, point] = *points.begin();
    const Entry& entry = entries_.at(point);
    const auto since = std::max<std::int64_t>(1, (now - last_used).count());
    const double ratio = SlopeOf(entry.bytes, entry.value) * static_cast<double>(since);
    if (first && (ratio < largest || (ratio == largest && *first < point))) continue;
    first = point;
    largest = ratio;
  }
  return first;
}

std::optional<CheckpointCache::Candidate> CheckpointCache::First(Time now) const {
  std::optional<Point> first = FirstOf(idle_, now);
  if (!first) first = FirstOf(open_, now);
  if (!first) return std::nullopt;
  const Entry& entry = entries_.at(*first);
  return Candidate{entry.plan, *first, entry.value};
}

}  // namespace espalier
