// What real trainings came to, for simulated ones: DeepOBS's runs of one problem, as bench/run cuts them out of
// ESPALIER_TEST_DATA (ESPALIER_CURVES: the folder).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/learning_curves.h"

namespace espalier::bench {

struct RecordedCurves {
  std::string table;                            // CSV: step, loss, curve, accuracy
  std::vector<std::vector<double>> losses;      // of training, by curve, from step 0
  std::vector<std::vector<double>> accuracies;  // of tests, likewise
};

// None: there are none on this machine. Gives up where the folder has none of the problem.
std::optional<RecordedCurves> ReadCurves(const std::string& problem);

// A hyper-parameter's whole number; 0 is the neutral value, which is left out.
std::size_t NumberIn(const worker::Values& values, const std::string& name);

}  // namespace espalier::bench
