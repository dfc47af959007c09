// Weighted linear least squares that always has one answer, however few or dependent the observations are.
#pragma once

#include <vector>

namespace espalier {

struct Observation {
  std::vector<double> features;
  double target = 0;
  double weight = 1;  // > 0
};

// The weights, intercept first, that minimize the squared error plus `ridge` times the squared weights of the features,
// each scaled to unit variance; the intercept is free. A feature that never varies gets 0. Deterministic. REQUIRES:
// observations is not empty, all have equally many features; ridge > 0.
std::vector<double> FitRidge(const std::vector<Observation>& observations, double ridge);

double Predict(const std::vector<double>& weights, const std::vector<double>& features);

}  // namespace espalier
