#include "scheduler/ridge_regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/check.h"

namespace espalier {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Solves a * x = b for a symmetric positive definite `a`, by its Cholesky factor, which replaces the lower half.
std::vector<double> SolveDefinite(Matrix a, std::vector<double> b) {
  const std::size_t size = b.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a[i][j];
      for (std::size_t k = 0; k < j; ++k) rest -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(rest) : rest / a[j][j];
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

struct Means {
  std::vector<double> features;
  double target = 0;
};

Means MeansOf(const std::vector<Observation>& observations) {
  Means means{std::vector<double>(observations.front().features.size())};
  double weight = 0;
  for (const Observation& one : observations) {
    weight += one.weight;
    means.target += one.weight * one.target;
    for (std::size_t i = 0; i < means.features.size(); ++i) means.features[i] += one.weight * one.features[i];
  }
  means.target /= weight;
  for (double& mean : means.features) mean /= weight;
  return means;
}

// Features that do not vary beyond rounding have none.
Covariances CovariancesOf(const std::vector<Observation>& observations, const Means& means) {
  const std::size_t count = means.features.size();
  Covariances sums{Matrix(count, std::vector<double>(count)), std::vector<double>(count)};
  std::vector<double> from_mean(count);
  double weight = 0;
  for (const Observation& one : observations) {
    weight += one.weight;
    for (std::size_t i = 0; i < count; ++i) {
      from_mean[i] = one.features[i] - means.features[i];
      sums.target[i] += one.weight * from_mean[i] * (one.target - means.target);
      for (std::size_t j = 0; j <= i; ++j) sums.features[i][j] += one.weight * from_mean[i] * from_mean[j];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (std::sqrt(sums.features[i][i] / weight) > 1e-12 * std::abs(means.features[i])) continue;
    sums.target[i] = 0;
    for (std::size_t j = 0; j < count; ++j) sums.features[std::max(i, j)][std::min(i, j)] = 0;
  }
  return sums;
}

}  // namespace

std::vector<double> SolveRidge(const Covariances& covariances, double ridge) {
  ESPALIER_CHECK(ridge > 0) << "no ridge";
  const std::size_t count = covariances.target.size();
  std::vector<double> scales(count);  // to unit variance
  for (std::size_t i = 0; i < count; ++i) {
    const double variance = covariances.features[i][i];
    scales[i] = variance > 0 ? 1 / std::sqrt(variance) : 0;
  }
  Matrix products(count, std::vector<double>(count));
  std::vector<double> target(count);
  for (std::size_t i = 0; i < count; ++i) {
    target[i] = scales[i] * covariances.target[i];
    for (std::size_t j = 0; j <= i; ++j) products[i][j] = scales[i] * covariances.features[i][j] * scales[j];
    products[i][i] += ridge;
  }
  std::vector<double> slopes = SolveDefinite(std::move(products), std::move(target));
  for (std::size_t i = 0; i < count; ++i) slopes[i] *= scales[i];
  return slopes;
}

std::vector<double> FitRidge(const std::vector<Observation>& observations, double ridge) {
  ESPALIER_CHECK(!observations.empty()) << "nothing to fit";
  const Means means = MeansOf(observations);
  std::vector<double> weights = SolveRidge(CovariancesOf(observations, means), ridge);
  double intercept = means.target;
  for (std::size_t i = 0; i < weights.size(); ++i) intercept -= weights[i] * means.features[i];
  weights.insert(weights.begin(), intercept);
  return weights;
}

double Predict(const std::vector<double>& weights, const std::vector<double>& features) {
  double sum = weights.front();
  for (std::size_t i = 0; i < features.size(); ++i) sum += weights[i + 1] * features[i];
  return sum;
}

}  // namespace espalier
