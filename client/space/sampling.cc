#include "client/space/sampling.h"

#include <algorithm>
#include <boost/random/sobol.hpp>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/digest.h"
#include "base/enum_names.h"
#include "client/space/ranges.h"

namespace espalier {
namespace {

constexpr EnumName<SamplingMethod> kSamplingMethods[] = {{SamplingMethod::kRandom, "random"},
                                                         {SamplingMethod::kSobol, "sobol"}};

Expression Parsed(const std::string& text) {
  Result<Expression> expression = ParseExpression(text);
  ESPALIER_CHECK(expression.has_value()) << text;
  return *std::move(expression);
}

// The same for the same three, on every machine.
std::uint64_t BitsOf(std::int64_t seed, std::size_t trial, std::size_t dimension) {
  const Digest128 digest =
      DigestOf(std::to_string(seed) + "/" + std::to_string(trial) + "/" + std::to_string(dimension));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(bits); ++i) bits = (bits << 8) | digest.bytes[i];
  return bits;
}

double InUnitInterval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// The numbers of all trials, trial after trial, dimension after dimension.
class Numbers {
 public:
  Numbers(const Sampling& sampling, std::size_t dimensions) : sampling_(sampling), dimensions_(dimensions) {
    if (sampling.method == SamplingMethod::kSobol && dimensions > 0) {
      sobol_ = std::make_unique<boost::random::sobol>(dimensions);
    }
  }

  double Next() {
    std::uint64_t bits = 0;
    if (sobol_ != nullptr) {
      bits = (*sobol_)() ^ BitsOf(sampling_.seed, 0, dimension_);  // a digital shift: as even as the sequence itself
    } else {
      bits = BitsOf(sampling_.seed, trial_, dimension_);
    }
    if (++dimension_ == dimensions_) {
      dimension_ = 0;
      ++trial_;
    }
    return InUnitInterval(bits);
  }

 private:
  const Sampling sampling_;
  const std::size_t dimensions_;
  std::unique_ptr<boost::random::sobol> sobol_;
  std::size_t trial_ = 0;
  std::size_t dimension_ = 0;
};

// A list, whose items are parsed once.
struct ParsedList {
  std::string name;
  std::vector<Expression> items;
};

}  // namespace

std::string_view Name(SamplingMethod method) { return NameIn(kSamplingMethods, method); }

Result<SamplingMethod> ParseSamplingMethod(std::string_view name) { return ParseIn(kSamplingMethods, name); }

std::size_t DimensionCount(const SearchSpace& space) {
  std::size_t count = 0;
  for (const auto& [name, texts] : space.lists) {
    count += texts.size() > 1 ? 1 : 0;
    for (const std::string& text : texts) count += RangeCount(Parsed(text));
  }
  return count;
}

std::vector<tuners::TrialText> Sample(const SearchSpace& space, const Sampling& sampling) {
  std::vector<ParsedList> lists;
  for (const auto& [name, texts] : space.lists) {
    ParsedList& list = lists.emplace_back(ParsedList{name, {}});
    std::ranges::transform(texts, std::back_inserter(list.items), Parsed);
  }
  Numbers numbers(sampling, DimensionCount(space));
  const auto next = [&numbers] { return numbers.Next(); };
  std::vector<tuners::TrialText> trials(sampling.trials, space.fixed);
  for (tuners::TrialText& trial : trials) {
    for (const ParsedList& list : lists) {
      const std::size_t count = list.items.size();
      const std::size_t chosen = count > 1 ? ChosenOf(count, next()) : 0;
      for (std::size_t i = 0; i < count; ++i) {
        const Expression drawn = Drawn(list.items[i], next);
        if (i == chosen) trial[list.name] = Print(drawn);
      }
    }
    Apply(space.conditions, trial);
  }
  return trials;
}

}  // namespace espalier
