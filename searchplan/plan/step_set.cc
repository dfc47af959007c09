#include "searchplan/plan/step_set.h"

#include <algorithm>
#include <iterator>

namespace espalier {

std::vector<StepRange> LineageRanges(const SearchPlan& plan, PlanNodeId leaf, Step step) {
  std::vector<StepRange> ranges;
  for (std::optional<PlanNodeId> id = leaf; id; id = plan.Node(*id).parent) {
    const Step start = plan.Node(*id).start;
    if (start >= step) continue;
    ranges.push_back({*id, start, step});
    step = start;
  }
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

void StepSet::Add(StepRange range) {
  if (range.to <= range.from) return;
  std::map<Step, Step>& intervals = intervals_[range.node];
  auto next = intervals.upper_bound(range.from);
  if (next != intervals.begin() && std::prev(next)->second >= range.from) {
    --next;
    range.from = next->first;
  }
  while (next != intervals.end() && next->first <= range.to) {
    range.to = std::max(range.to, next->second);
    next = intervals.erase(next);
  }
  intervals.emplace_hint(next, range.from, range.to);
}

void StepSet::AddLineage(const SearchPlan& plan, PlanNodeId leaf, Step step) {
  for (const StepRange& range : LineageRanges(plan, leaf, step)) Add(range);
}

void StepSet::AddTrained(const PlanNode& node) {
  for (const TrainedRange& range : node.results->trained) Add({node.id, range.from, range.to});
}

void StepSet::AddTakenOver(const SearchPlan& plan, const PlanNode& node) {
  if (const Origin* origin = OriginOf(plan, node.id)) Add({node.id, node.start, origin->point.step});
}

std::int64_t StepSet::Count() const {
  std::int64_t count = 0;
  for (const auto& [node, intervals] : intervals_) {
    for (const auto& [from, to] : intervals) count += to - from;
  }
  return count;
}

std::int64_t StepSet::CountIn(StepRange range) const {
  const auto intervals = intervals_.find(range.node);
  if (intervals == intervals_.end()) return 0;
  auto next = intervals->second.upper_bound(range.from);
  if (next != intervals->second.begin()) --next;
  std::int64_t count = 0;
  for (; next != intervals->second.end() && next->first < range.to; ++next) {
    const auto overlap = std::min(range.to, next->second) - std::max(range.from, next->first);
    count += std::max<std::int64_t>(0, overlap);
  }
  return count;
}

bool StepSet::Contains(PlanNodeId node, Step step) const { return CountIn({node, step - 1, step}) == 1; }

std::vector<StepRange> StepSet::Ranges() const {
  std::vector<StepRange> ranges;
  for (const auto& [node, intervals] : intervals_) {
    for (const auto& [from, to] : intervals) ranges.push_back({node, from, to});
  }
  return ranges;
}

std::vector<StepRange> StepSet::RangesOf(PlanNodeId node) const {
  std::vector<StepRange> ranges;
  const auto intervals = intervals_.find(node);
  if (intervals == intervals_.end()) return ranges;
  for (const auto& [from, to] : intervals->second) ranges.push_back({node, from, to});
  return ranges;
}

StepSet Intersection(const StepSet& a, const StepSet& b) {
  StepSet both;
  for (const StepRange& range : a.Ranges()) {
    for (const StepRange& other : b.RangesOf(range.node)) {
      both.Add({range.node, std::max(range.from, other.from), std::min(range.to, other.to)});
    }
  }
  return both;
}

StepSet Difference(const StepSet& a, const StepSet& b) {
  StepSet left;
  for (StepRange range : a.Ranges()) {
    for (const StepRange& other : b.RangesOf(range.node)) {
      if (other.to <= range.from || other.from >= range.to) continue;
      left.Add({range.node, range.from, other.from});
      range.from = other.to;
    }
    left.Add(range);
  }
  return left;
}

}  // namespace espalier
