#include "sim/learning_curves.h"

namespace espalier::sim {

Result<LearningCurves> LearningCurves::Parse(std::string_view csv, const std::string& metric, const ValueTypes& types) {
  LearningCurves curves;
  ESPALIER_ASSIGN(curves.table_, ValueTable::Parse(csv, {{.name = metric}}, types, /*by_step=*/true));
  return curves;
}

Result<double> LearningCurves::At(const worker::Values& values, Step step) const {
  if (const std::vector<double>* row = table_.Find(values, step); row != nullptr) return row->front();
  const std::string named = table_.Named(values);
  return MakeError(ErrorCode::kNotFound, "the table of metrics has no row for step " + std::to_string(step.value) +
                                             (named.empty() ? "" : " " + named));
}

}  // namespace espalier::sim
