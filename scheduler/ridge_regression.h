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

}  // namespace espalier
