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

}  // namespace espalier
