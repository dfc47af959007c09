#include "client/fetch_checkpoint.h"

#include "client/connection.h"
#include "client/continuation.h"

namespace espalier {
namespace {

Result<v1::ListedCheckpoint> FindCheckpoint(Connection& connection, TrialId trial, Step step) {
  v1::ListCheckpointsRequest request;
  request.set_trial_id(trial.value);
  ESPALIER_ASSIGN(const v1::ListCheckpointsResponse listed, connection.ListCheckpoints(request));
  std::string steps;
  for (const v1::ListedCheckpoint& each : listed.checkpoints()) {
    if (each.point().step() == step.value) return each;
    steps += (steps.empty() ? "" : ", ") + std::to_string(each.point().step());
  }
  if (step == Step{0} && !listed.checkpoints().empty()) return *listed.checkpoints().rbegin();
  const std::string those =
      steps.empty() ? "no state of the trial is stored" : "stored are the states at steps " + steps;
  return MakeError(ErrorCode::kNotFound, those + "; with --train (in C++ `train`) it is trained to there once more");
}

// As a study of its own, which shares all that is trained and stored.
Result<void> TrainAgain(Client& client, TrialId trial, const FetchOptions& options) {
  v1::GetTrialRequest get;
  get.set_trial_id(trial.value);
  ESPALIER_ASSIGN(const v1::GetTrialResponse known, client.connection().GetTrial(get));
  v1::ContinueTrialRequest request;
  request.set_trial_id(trial.value);
  const std::int64_t steps = options.step > Step{0} ? options.step.value : known.trial().steps();
  request.add_continuations()->set_steps(steps);
  request.set_name("trial-" + std::to_string(trial.value) + "-state-" + std::to_string(steps));
  request.set_state_wanted(true);
  ESPALIER_ASSIGN(const v1::ContinueTrialResponse continued, GoOnFrom(client.connection(), request));
  const Study study = client.OpenStudy(StudyId{continued.study_id()});
  if (options.say) {
    options.say("study " + std::to_string(study.id().value) + ", " + request.name() + ", trains trial " +
                std::to_string(trial.value) + " to step " + std::to_string(steps) + " once more");
  }
  ESPALIER_RETURN_IF_ERROR(study.WaitUntilFinished());
  ESPALIER_ASSIGN(const std::vector<TrialView> trials, study.Trials());
  if (trials.empty()) return MakeError(ErrorCode::kInternal, "the server made a study without a trial");
  if (trials.front().state == "done") return {};
  return MakeError(ErrorCode::kFailedPrecondition,
                   "the training to there is " + trials.front().state + ": " + trials.front().message);
}

}  // namespace

Result<v1::ListedCheckpoint> FindOrTrain(Client& client, TrialId trial, const FetchOptions& options) {
  Result<v1::ListedCheckpoint> found = FindCheckpoint(client.connection(), trial, options.step);
  if (found.has_value() || !options.train || found.error().code != ErrorCode::kNotFound) return found;
  ESPALIER_RETURN_IF_ERROR(TrainAgain(client, trial, options));
  return FindCheckpoint(client.connection(), trial, options.step);
}

}  // namespace espalier
