// What differs between what a training should have shown, because it did before, and what it shows. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "worker/checkpoint/training_state.h"

namespace espalier::trainer_check {

// A metric, or an array of a state, that is not the same to the bit.
struct Difference {
  std::string name;
  std::string place;     // of the first element that differs: "[3, 5]"; of an array of JSON its path; empty: the whole
  std::string expected;  // as a person reads it; "missing"
  std::string found;
  std::int64_t differing = 1;  // so many of
  std::int64_t size = 1;       // so many elements
  std::optional<double> by;    // by how much at most, where numbers differ that are finite
  friend bool operator==(const Difference&, const Difference&) = default;
};

// "model.0.weight[3, 5] is 0.12, was 0.13; 8 of 640 elements differ, by 0.02 at most"
std::string Print(const Difference& difference);

// Values that are not numbers are equal to each other. By name.
std::vector<Difference> Differences(const Metrics& expected, const Metrics& found);

// By name; arrays of text that is JSON come last: they are what a trainer keeps besides tensors, and change with them.
// Cost: the states' bytes.
std::vector<Difference> Differences(const TrainingState& expected, const TrainingState& found);

}  // namespace espalier::trainer_check
