#include "client/training_curves.h"

#include <algorithm>

namespace espalier {

Result<TrainingCurves> ReadTrainingCurves(Connection& connection, TrialId trial) {
  TrainingCurves curves;
  v1::GetTrainingMetricsRequest request;
  request.set_trial_id(trial.value);
  while (true) {
    ESPALIER_ASSIGN(const v1::GetTrainingMetricsResponse response, connection.GetTrainingMetrics(request));
    for (const v1::MetricSeries& series : response.series()) {
      std::map<Step, double>& known = curves[series.name()];
      for (int at = 0; at < std::min(series.steps_size(), series.values_size()); ++at) {
        known.emplace(Step{series.steps(at)}, series.values(at));
      }
    }
    if (response.series().empty()) return curves;
    request.set_after(response.next());
  }
}

}  // namespace espalier
