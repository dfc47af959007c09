#include "tests/unit/scheduler/fit_ridge.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>

#include "scheduler/ridge_regression.h"

namespace espalier {
namespace {

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
  Covariances sums{std::vector<std::vector<double>>(count, std::vector<double>(count)), std::vector<double>(count)};
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

std::vector<double> FitRidge(const std::vector<Observation>& observations, double ridge) {
  REQUIRE_FALSE(observations.empty());
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
