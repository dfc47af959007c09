// What a bench has found: named numbers, each with what it is compared to, for people and as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace espalier::bench {

class Figures {
 public:
  // Also printed at once, on standard error: benches take minutes. `goal`: what is to be reached, in words; may be
  // empty.
  void Add(const std::string& name, double value, const std::string& goal = "");

  // Of one bench: its name, the figures, the machine and the commit that was measured.
  std::string AsJson(const std::string& bench) const;

 private:
  std::vector<std::pair<std::string, double>> values_;
};

// The middle one, the mean, and the one that one in a hundred exceeds. REQUIRES: values.
double Mean(const std::vector<double>& values);
double Median(std::vector<double> values);
double Percentile99(std::vector<double> values);
// Of their mean; 0 of a single one.
double StandardError(const std::vector<double>& values);

}  // namespace espalier::bench
