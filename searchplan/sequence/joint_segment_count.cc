#include "searchplan/sequence/joint_segment_count.h"

#include <algorithm>
#include <iterator>

#include "searchplan/sequence/sequence.h"

namespace espalier {
namespace {

constexpr std::size_t kRememberedMax = 1'000'000;

// Under the first type that takes the expression: no type has it in other pieces.
std::vector<Step> BreakPoints(const std::string& text, Step horizon) {
  const auto expression = ParseExpression(text);
  if (!expression.has_value()) return {};
  for (const ValueType type : {ValueType::kFloating, ValueType::kText, ValueType::kBoolean}) {
    const auto sequence = Compile(*expression, type, horizon);
    if (!sequence.has_value()) {
      if (sequence.error().code == ErrorCode::kResourceExhausted) return std::vector<Step>(kBatchSegmentsMax);
      continue;
    }
    std::vector<Step> starts;
    const std::size_t count = std::min(sequence->segments.size(), kBatchSegmentsMax + 1);
    for (std::size_t i = 1; i < count; ++i) starts.push_back(sequence->segments[i].start);
    return starts;
  }
  return {};
}

}  // namespace

std::size_t JointSegmentCounter::Count(const std::map<std::string, std::string>& sequences, Step horizon) {
  std::vector<Step> all;
  for (const auto& [name, text] : sequences) {
    const std::vector<Step>& added = BreakPointsOf(text, horizon);
    if (added.empty()) continue;
    std::vector<Step> merged;
    std::set_union(all.begin(), all.end(), added.begin(), added.end(), std::back_inserter(merged));
    all = std::move(merged);
    if (all.size() >= kBatchSegmentsMax) return kBatchSegmentsMax + 1;
  }
  return all.size() + 1;
}

const std::vector<Step>& JointSegmentCounter::BreakPointsOf(const std::string& text, Step horizon) {
  if (remembered_ > kRememberedMax) {
    break_points_.clear();
    remembered_ = 0;
  }
  const auto [known, is_new] = break_points_.try_emplace({text, horizon});
  if (is_new) {
    known->second = BreakPoints(text, horizon);
    remembered_ += known->second.size();
  }
  return known->second;
}

}  // namespace espalier
