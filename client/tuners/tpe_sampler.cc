#include "client/tuners/tpe_sampler.h"

#include <algorithm>

#include "client/tuners/rungs.h"

namespace espalier::tuners {
namespace {

constexpr double kGoodShare = 0.15;
constexpr int kDrawCount = 64;
constexpr std::size_t kEnoughMin = 10;  // results, before anything is made of them
// Of good and of bad ones: so a draw costs the same however many trials there were.
constexpr std::size_t kGoodMax = 150;
constexpr std::size_t kBadMax = 850;

}  // namespace

class TpeSampler::Numbers {
 public:
  Numbers(std::int64_t seed, std::size_t trial) : seed_(seed), trial_(trial) {}
  double Next() { return UnitNumber(seed_, trial_, number_++); }

 private:
  const std::int64_t seed_;
  const std::size_t trial_;
  std::size_t number_ = 0;
};

TpeSampler::TpeSampler(const SearchSpace& space, std::int64_t seed) : drawing_(space), seed_(seed) {}

TrialText TpeSampler::Draw() {
  Numbers numbers(seed_, points_.size());
  const Point& point = points_.emplace_back(PointOf(numbers));
  return drawing_.Draw([number = point.begin()]() mutable { return *number++; });
}

void TpeSampler::Learn(const ClaimOutcome& outcome) {
  if (outcome.trial >= points_.size() || std::holds_alternative<Cancelled>(outcome.outcome)) return;
  std::vector<Measurement>& known = results_[outcome.steps];
  const auto place = std::ranges::upper_bound(known, outcome.outcome, Better, &Measurement::outcome);
  known.insert(place, {outcome.outcome, outcome.trial});
}

// The numbers of a trial at random are its first, so that trials before the first results are those of random sampling.
Point TpeSampler::PointOf(Numbers& numbers) const {
  const std::vector<Dimension>& dimensions = drawing_.dimensions();
  const auto next = [&numbers] { return numbers.Next(); };
  Point random(dimensions.size());
  std::ranges::generate(random, next);
  const Known known = Parted();
  if (known.good.empty()) return random;

  const KernelDensity good(PointsOf(known.good, kGoodMax), dimensions);
  const KernelDensity bad(PointsOf(known.bad, kBadMax), dimensions);
  Point best;
  double best_ratio = 0;
  for (int i = 0; i < kDrawCount; ++i) {
    Point point = good.Draw(next);
    const double ratio = good.LogAt(point) - bad.LogAt(point);
    if (!best.empty() && ratio <= best_ratio) continue;
    best = std::move(point);
    best_ratio = ratio;
  }
  return best;
}

// The best of those that were measured at the largest number of steps at which enough were are good, the others bad. So
// are, of each smaller number, those that were measured at no larger one and are worse there than half of those that
// went on: without these, what no trial was taken far with would pass for promising.
TpeSampler::Known TpeSampler::Parted() const {
  const std::size_t enough = std::max(kEnoughMin, drawing_.dimensions().size() + 3);
  const auto is_enough = [&](const auto& at) { return at.second.size() >= enough; };
  const auto deepest = std::find_if(results_.rbegin(), results_.rend(), is_enough);
  if (deepest == results_.rend()) return {};
  std::vector<std::size_t> ranked;
  for (const Measurement& each : deepest->second) ranked.push_back(each.trial);
  const std::size_t deep_count = ranked.size();
  std::vector<bool> went_on(points_.size());
  for (const std::size_t trial : ranked) went_on[trial] = true;
  std::vector<bool> seen = went_on;
  for (auto at = std::next(deepest); at != results_.rend(); ++at) {
    const auto half =
        std::ranges::count_if(at->second, [&](const Measurement& each) { return went_on[each.trial]; }) / 2;
    std::ptrdiff_t passed = 0;
    for (const Measurement& each : at->second) {
      passed += went_on[each.trial] ? 1 : 0;
      if (passed > half && !seen[each.trial]) ranked.push_back(each.trial);
      seen[each.trial] = true;
    }
  }
  const auto share = static_cast<std::size_t>(kGoodShare * static_cast<double>(ranked.size()));
  const auto first_bad = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(share, deep_count - 1));
  return {{ranked.begin(), first_bad}, {first_bad, ranked.end()}};
}

std::vector<Point> TpeSampler::PointsOf(const std::vector<std::size_t>& trials, std::size_t most) const {
  const std::size_t count = std::min(trials.size(), most);
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(points_[trials[i * trials.size() / count]]);
  return points;
}

}  // namespace espalier::tuners
