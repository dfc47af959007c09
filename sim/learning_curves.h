// Metrics that trainings reached elsewhere, for simulated ones to reach again: a table in CSV (ValueTable) with the
// columns `step`, the study's metric, and hyper-parameters. A row says what the metric was at that step where the
// hyper-parameters had those values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "sim/step_demands.h"
#include "sim/value_table.h"
#include "worker/protocol/worker_message.h"

namespace espalier::sim {

class LearningCurves {
 public:
  // `types`: of the study's hyper-parameters. Error: as ValueTable::Parse.
  static Result<LearningCurves> Parse(std::string_view csv, const std::string& metric, const ValueTypes& types);

  // At the step with these values in force; one that is missing is neutral. Error: kNotFound, naming them, when the
  // table has no such row.
  Result<double> At(const worker::Values& values, Step step) const;

 private:
  ValueTable table_;
};

class RecordedTrainings;

// What trainings measure whose metrics nobody computes.
struct Measures {
  std::map<std::string, LearningCurves> tables = {};  // by the metric's name; one that is not there follows a formula
  std::uint64_t seed = 0;                             // of that formula
  // What every metric without a table is, by the values in force and the step; none: that formula.
  std::function<double(const worker::Values&, Step)> score = {};
  // What steps return as their loss, those that it has rows for; none: what the formula is short of 1.
  std::optional<LearningCurves> losses = {};
  // Given: what these took and measured is taken and measured again, instead of all that. It lives as long.
  const RecordedTrainings* recorded = nullptr;
  // What steps take; none: as long as the world's durations say, and a whole GPU each.
  StepDemands demands = {};
};

}  // namespace espalier::sim
