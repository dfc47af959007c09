// What a study says of itself and its trials.
#include <algorithm>
#include <cmath>

#include "client/connection.h"
#include "client/convert_views.h"
#include "client/study.h"
#include "client/training_curves.h"

namespace espalier {

Result<StudyView> Study::View() const {
  v1::GetStudyRequest request;
  request.set_study_id(id().value);
  ESPALIER_ASSIGN(const v1::GetStudyResponse response, connection().GetStudy(request));
  return ToView(response.study());
}

Result<std::vector<TrialView>> Study::Trials(const TrialQuery& query) const {
  constexpr std::size_t kPage = 1000;
  v1::ListTrialsRequest request;
  request.set_study_id(id().value);
  request.set_order(query.best_first ? v1::TRIAL_ORDER_METRIC : v1::TRIAL_ORDER_SUBMISSION);
  for (const std::string& state : query.states) request.add_states(state);
  std::vector<TrialView> trials;
  while (trials.size() < query.count_max) {
    request.set_page_size(static_cast<std::int32_t>(std::min(kPage, query.count_max - trials.size())));
    ESPALIER_ASSIGN(const v1::ListTrialsResponse page, connection().ListTrials(request));
    for (const v1::Trial& trial : page.trials()) trials.push_back(ToView(trial));
    if (page.next_page_token().empty()) break;
    request.set_page_token(page.next_page_token());
  }
  return trials;
}

Result<std::optional<TrialView>> Study::Best() const {
  ESPALIER_ASSIGN(std::vector<TrialView> trials, Trials({.best_first = true, .states = {}, .count_max = 1}));
  if (trials.empty() || !trials.front().metric || std::isnan(*trials.front().metric)) return std::nullopt;
  return std::move(trials.front());
}

Result<TrialView> Study::ViewTrial(TrialId trial) const {
  v1::GetTrialRequest request;
  request.set_trial_id(trial.value);
  ESPALIER_ASSIGN(const v1::GetTrialResponse response, connection().GetTrial(request));
  return ToView(response);
}

Result<TrainingCurves> Study::TrainingMetrics(TrialId trial) const { return ReadTrainingCurves(connection(), trial); }

Result<std::vector<CheckpointView>> Study::Checkpoints(TrialId trial) const {
  v1::ListCheckpointsRequest request;
  request.set_trial_id(trial.value);
  ESPALIER_ASSIGN(const v1::ListCheckpointsResponse response, connection().ListCheckpoints(request));
  std::vector<CheckpointView> checkpoints;
  for (const v1::ListedCheckpoint& each : response.checkpoints()) checkpoints.push_back(ToView(each));
  return checkpoints;
}

}  // namespace espalier
