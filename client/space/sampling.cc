#include "client/space/sampling.h"

#include <boost/random/sobol.hpp>
#include <memory>

#include "base/enum_names.h"
#include "client/space/drawing.h"

namespace espalier {
namespace {

constexpr EnumName<SamplingMethod> kSamplingMethods[] = {
    {SamplingMethod::kRandom, "random"}, {SamplingMethod::kSobol, "sobol"}, {SamplingMethod::kTpe, "tpe"}};

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
      bits =
          (*sobol_)() ^ RandomBits(sampling_.seed, 0, dimension_);  // a digital shift: as even as the sequence itself
    } else {
      bits = RandomBits(sampling_.seed, trial_, dimension_);
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

}  // namespace

std::string_view Name(SamplingMethod method) { return NameIn(kSamplingMethods, method); }

Result<SamplingMethod> ParseSamplingMethod(std::string_view name) { return ParseIn(kSamplingMethods, name); }

std::vector<TrialText> Sample(const SearchSpace& space, const Sampling& sampling) {
  const Drawing drawing(space);
  Numbers numbers(sampling, drawing.dimensions().size());
  const auto next = [&numbers] { return numbers.Next(); };
  std::vector<TrialText> trials;
  for (std::size_t i = 0; i < sampling.trials; ++i) trials.push_back(drawing.Draw(next));
  return trials;
}

}  // namespace espalier
