#include "scheduler/regression_sums.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/ridge_regression.h"

namespace espalier {
namespace {

// Small enough to change no estimate that the measurements determine.
constexpr double kRidge = 1e-6;

// Where the two differ, by feature.
std::vector<CostFeature> Differing(const Features& a, const Features& b) {
  std::vector<CostFeature> differing;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->feature < y->feature)) {
      differing.push_back((x++)->feature);
    } else if (x == a.end() || y->feature < x->feature) {
      differing.push_back((y++)->feature);
    } else {
      if (x->value != y->value) differing.push_back(x->feature);
      ++x, ++y;
    }
  }
  return differing;
}

// The first, in a vector sorted by feature, that is not before it.
template <class Sorted>
auto NotBefore(Sorted& sorted, const CostFeature& feature) {
  return std::lower_bound(sorted.begin(), sorted.end(), feature,
                          [](const auto& each, const CostFeature& what) { return each.feature < what; });
}

}  // namespace

void RegressionSums::Replace(const Features& features, WeightedTarget before, WeightedTarget after) {
  ESPALIER_CHECK(0 < after.weight && after.weight <= kWeightMax) << "a weight of " << after.weight;
  ESPALIER_CHECK(0 <= after.total && after.total <= after.weight * kTargetMax) << "a total of " << after.total;
  if (before.weight == 0) Enter(features);
  const std::int64_t weight = after.weight - before.weight;
  const std::int64_t total = after.total - before.total;
  weight_ += weight;
  total_ += total;
  const std::vector<std::int64_t> values = ValuesOf(features);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (values[i] == 0) continue;
    const std::int64_t weighted = weight * values[i];
    columns_[i].sum += weighted;
    columns_[i].with_target += Int128{total} * values[i];
    for (std::size_t j = 0; j <= i; ++j) columns_[i].products[j] += Int128{weighted} * values[j];
  }
  solution_.reset();
}

RegressionSums& RegressionSums::operator+=(RegressionSums other) {
  if (other.empty()) return *this;
  if (empty()) return *this = std::move(other);
  std::vector<CostFeature> varying = Differing(constants_, other.constants_);
  for (const Column& column : columns_) varying.push_back(column.feature);
  for (const Column& column : other.columns_) varying.push_back(column.feature);
  for (const CostFeature& feature : varying) {
    Vary(feature);
    other.Vary(feature);
  }
  node_count_ += other.node_count_;
  ESPALIER_CHECK(node_count_ <= kRegressedNodeCountMax) << "sums of " << node_count_ << " nodes";
  weight_ += other.weight_;
  total_ += other.total_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {  // the same columns by now
    Column& column = columns_[i];
    const Column& added = other.columns_[i];
    column.least = std::min(column.least, added.least);
    column.most = std::max(column.most, added.most);
    column.sum += added.sum;
    column.with_target += added.with_target;
    for (std::size_t j = 0; j <= i; ++j) column.products[j] += added.products[j];
  }
  solution_.reset();
  return *this;
}

// A node that is not among them yet, without its weight.
void RegressionSums::Enter(const Features& features) {
  ESPALIER_CHECK(node_count_ < kRegressedNodeCountMax) << "sums of " << node_count_ << " nodes";
  if (node_count_++ == 0) constants_ = features;
  for (const CostFeature& feature : Differing(features, constants_)) Vary(feature);
  const std::vector<std::int64_t> values = ValuesOf(features);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].least = std::min(columns_[i].least, values[i]);
    columns_[i].most = std::max(columns_[i].most, values[i]);
  }
}

// Gives a feature that starts to differ its column, unless it has one or comes behind those that count.
void RegressionSums::Vary(const CostFeature& feature) {
  const auto next = NotBefore(columns_, feature);
  if (next != columns_.end() ? next->feature == feature : columns_.size() == kColumnCountMax) return;
  const auto place = next - columns_.begin();
  const std::int64_t value = TakeConstant(feature);
  Column column{feature, value, value, Int128{value} * weight_, value * total_};
  for (auto each = columns_.begin(); each != next; ++each) column.products.push_back(value * each->sum);
  column.products.push_back(value * column.sum);
  for (auto each = next; each != columns_.end(); ++each) {
    each->products.insert(each->products.begin() + place, value * each->sum);
  }
  columns_.insert(next, std::move(column));
  if (columns_.size() < kColumnCountMax) return;
  columns_.resize(kColumnCountMax);
  constants_.erase(NotBefore(constants_, columns_.back().feature), constants_.end());
}

// What the feature was in all nodes; it is no constant any more.
std::int64_t RegressionSums::TakeConstant(const CostFeature& feature) {
  const auto found = NotBefore(constants_, feature);
  if (found == constants_.end() || found->feature != feature) return 0;
  const std::int64_t value = found->value;
  constants_.erase(found);
  return value;
}

std::vector<std::int64_t> RegressionSums::ValuesOf(const Features& features) const {
  std::vector<std::int64_t> values;
  values.reserve(columns_.size());
  auto each = features.begin();
  for (const Column& column : columns_) {
    while (each != features.end() && each->feature < column.feature) ++each;
    const bool named = each != features.end() && each->feature == column.feature;
    values.push_back(named ? each->value : 0);
  }
  return values;
}

// With whole numbers near the means, `center` and `middle`, taken off in integers: exact, however small the variance is
// beside the mean. What remains of the means is below one half, and is taken off in doubles.
RegressionSums::Solution RegressionSums::Solve() const {
  const std::size_t count = columns_.size();
  const auto weight = static_cast<double>(weight_);
  const Int128 middle = total_ / weight_;
  const auto target_rest = static_cast<double>(total_ - middle * weight_);
  std::vector<Int128> centers(count);
  std::vector<Int128> rests(count);  // sums of weight * (value - center)
  Solution solution{std::vector<double>(count), {}};
  for (std::size_t i = 0; i < count; ++i) {
    const Int128 sum = columns_[i].sum;
    centers[i] = (sum + (sum < 0 ? -weight_ : weight_) / 2) / weight_;
    rests[i] = sum - centers[i] * weight_;
    solution.means[i] = static_cast<double>(centers[i]) + static_cast<double>(rests[i]) / weight;
  }
  Covariances covariances{std::vector<std::vector<double>>(count), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const Column& column = columns_[i];
    const double rest = static_cast<double>(rests[i]) / weight;
    const Int128 with_target = column.with_target - centers[i] * total_ - middle * rests[i];
    covariances.target[i] = static_cast<double>(with_target) - rest * target_rest;
    for (std::size_t j = 0; j <= i; ++j) {
      const Int128 product = column.products[j] - centers[i] * columns_[j].sum - centers[j] * rests[i];
      covariances.features[i].push_back(static_cast<double>(product) - rest * static_cast<double>(rests[j]));
    }
  }
  solution.slopes = SolveRidge(covariances, kRidge);
  return solution;
}

double RegressionSums::Predict(const Features& features) const {
  ESPALIER_CHECK(!empty()) << "nothing to predict from";
  if (!solution_) solution_ = Solve();
  double sum = static_cast<double>(total_) / static_cast<double>(weight_);
  const std::vector<std::int64_t> values = ValuesOf(features);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::int64_t value = std::clamp(values[i], columns_[i].least, columns_[i].most);
    sum += solution_->slopes[i] * (static_cast<double>(value) - solution_->means[i]);
  }
  return sum;
}

bool operator==(const RegressionSums& a, const RegressionSums& b) {
  return a.node_count_ == b.node_count_ && a.weight_ == b.weight_ && a.total_ == b.total_ && a.columns_ == b.columns_ &&
         a.constants_ == b.constants_;
}

}  // namespace espalier
