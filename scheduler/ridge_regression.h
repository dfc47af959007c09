// Weighted linear least squares that always has one answer, however few or dependent the observations are. Pure.
#pragma once

#include <vector>

namespace espalier {

// What least squares has to know of the observations: their covariances, all times whatever one factor.
struct Covariances {
  std::vector<std::vector<double>> features;  // symmetric; of feature i only those with features 0 to i are read
  std::vector<double> target;                 // of each feature with the target
};

// The slope of each feature, by which the squared error plus `ridge` times the squared slopes is least, each feature
// scaled to unit variance; the intercept is free: the line goes through the means. A feature of variance 0 gets 0.
// Deterministic; O(features^3). REQUIRES: ridge > 0.
std::vector<double> SolveRidge(const Covariances& covariances, double ridge);

struct Observation {
  std::vector<double> features;
  double target = 0;
  double weight = 1;  // > 0
};

// The intercept, then the slopes of SolveRidge. A feature that does not vary beyond rounding gets 0. REQUIRES:
// observations is not empty, all have equally many features; ridge > 0.
std::vector<double> FitRidge(const std::vector<Observation>& observations, double ridge);

double Predict(const std::vector<double>& weights, const std::vector<double>& features);

}  // namespace espalier
