// The regression of scheduler/cost_sums.h from all observations at once and in doubles: its oracle.
#pragma once

#include <vector>

namespace espalier {

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
