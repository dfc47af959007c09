#include "client/space/drawing.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/digest.h"

namespace espalier {
namespace {

Expression Parsed(const std::string& text) {
  Result<Expression> expression = ParseExpression(text);
  ESPALIER_CHECK(expression.has_value()) << text;
  return *std::move(expression);
}

}  // namespace

Drawing::Drawing(const SearchSpace& space) : fixed_(space.fixed), conditions_(space.conditions) {
  for (const auto& [name, texts] : space.lists) {
    ParsedList& list = lists_.emplace_back(ParsedList{name, {}});
    std::ranges::transform(texts, std::back_inserter(list.items), Parsed);
    if (list.items.size() > 1) dimensions_.push_back({list.items.size()});
    for (const Expression& item : list.items) std::ranges::copy(RangesOf(item), std::back_inserter(dimensions_));
  }
}

TrialText Drawing::Draw(const NextNumber& next) const {
  TrialText trial = fixed_;
  for (const ParsedList& list : lists_) {
    const std::size_t count = list.items.size();
    const std::size_t chosen = count > 1 ? ChosenOf(count, next()) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Expression drawn = Drawn(list.items[i], next);
      if (i == chosen) trial[list.name] = Print(drawn);
    }
  }
  Apply(conditions_, trial);
  return trial;
}

double UnitNumber(std::int64_t seed, std::size_t trial, std::size_t number) {
  return InUnitInterval(RandomBits(seed, trial, number));
}

std::uint64_t RandomBits(std::int64_t seed, std::size_t trial, std::size_t number) {
  const Digest128 digest = DigestOf(std::to_string(seed) + "/" + std::to_string(trial) + "/" + std::to_string(number));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(bits); ++i) bits = (bits << 8) | digest.bytes[i];
  return bits;
}

double InUnitInterval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace espalier
