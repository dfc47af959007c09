// What an evaluation or a training step returns.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/units.h"

namespace espalier {

// By metric's name. NaN is a value here.
using Metrics = std::map<std::string, double>;

// The same metrics at several steps.
struct MetricSeries {
  std::vector<std::string> names;  // in order, each once
  std::vector<Step> steps;         // in order, each once
  std::vector<double> values;      // by step, then in the order of the names: steps.size() * names.size()
  friend bool operator==(const MetricSeries&, const MetricSeries&) = default;
};

}  // namespace espalier
