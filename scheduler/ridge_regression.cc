#include "scheduler/ridge_regression.h"

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

struct Moments {
  std::vector<double> means;
  std::vector<double> deviations;
  double target_mean = 0;
  double weight = 0;
};

Moments MomentsOf(const std::vector<Observation>& observations) {
  const std::size_t count = observations.front().features.size();
  Moments moments{.means = std::vector<double>(count), .deviations = std::vector<double>(count)};
  for (const Observation& one : observations) {
    moments.weight += one.weight;
    moments.target_mean += one.weight * one.target;
    for (std::size_t i = 0; i < count; ++i) moments.means[i] += one.weight * one.features[i];
  }
  moments.target_mean /= moments.weight;
  for (double& mean : moments.means) mean /= moments.weight;
  for (const Observation& one : observations) {
    for (std::size_t i = 0; i < count; ++i) {
      const double from_mean = one.features[i] - moments.means[i];
      moments.deviations[i] += one.weight * from_mean * from_mean / moments.weight;
    }
  }
  for (double& deviation : moments.deviations) deviation = std::sqrt(deviation);
  return moments;
}

// The feature in units of its deviation from the mean; 0 for one that does not vary beyond rounding.
double Scaled(const Moments& moments, std::size_t feature, double value) {
  const double deviation = moments.deviations[feature];
  if (deviation <= 1e-12 * std::abs(moments.means[feature])) return 0;
  return (value - moments.means[feature]) / deviation;
}

}  // namespace

std::vector<double> FitRidge(const std::vector<Observation>& observations, double ridge) {
  ESPALIER_CHECK(!observations.empty() && ridge > 0) << "nothing to fit, or no ridge";
  const std::size_t count = observations.front().features.size();
  const Moments moments = MomentsOf(observations);
  Matrix products(count, std::vector<double>(count));
  std::vector<double> target(count);
  for (const Observation& one : observations) {
    std::vector<double> scaled(count);
    for (std::size_t i = 0; i < count; ++i) scaled[i] = Scaled(moments, i, one.features[i]);
    const double share = one.weight / moments.weight;
    for (std::size_t i = 0; i < count; ++i) {
      target[i] += share * scaled[i] * (one.target - moments.target_mean);
      for (std::size_t j = 0; j < count; ++j) products[i][j] += share * scaled[i] * scaled[j];
    }
  }
  for (std::size_t i = 0; i < count; ++i) products[i][i] += ridge;
  const std::vector<double> solution = SolveDefinite(std::move(products), std::move(target));
  std::vector<double> weights{moments.target_mean};
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back(
        Scaled(moments, i, moments.means[i] + moments.deviations[i]) == 0 ? 0 : solution[i] / moments.deviations[i]);
    weights.front() -= weights.back() * moments.means[i];
  }
  return weights;
}

double Predict(const std::vector<double>& weights, const std::vector<double>& features) {
  double sum = weights.front();
  for (std::size_t i = 0; i < features.size(); ++i) sum += weights[i + 1] * features[i];
  return sum;
}

}  // namespace espalier
