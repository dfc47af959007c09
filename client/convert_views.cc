#include "client/convert_views.h"

#include "proto/convert_study_choices.h"

namespace espalier {
namespace {

// What a list says of a study, and a study of itself.
template <class Wire>
StudyEntry EntryOf(const Wire& wire) {
  StudyEntry entry{.id = StudyId{wire.study_id()},
                   .name = wire.name(),
                   .user = wire.user(),
                   .trainer = wire.trainer(),
                   .goal = FromProto(wire.goal()),
                   .finished = wire.state() == "finished",
                   .elapsed = Seconds{wire.elapsed_seconds()},
                   .best = {}};
  if (wire.has_best()) {
    const v1::BestTrial& best = wire.best();
    entry.best = BestView{TrialId{best.trial_id()}, Step{best.step()}, best.metric(), best.value()};
  }
  return entry;
}

template <class Evaluations>
std::map<Step, Metrics> ByStep(const Evaluations& evaluations) {
  std::map<Step, Metrics> by_step;
  for (const v1::TrialEvaluation& each : evaluations) {
    by_step[Step{each.step()}] = {each.metrics().begin(), each.metrics().end()};
  }
  return by_step;
}

}  // namespace

StudyEntry ToView(const v1::StudyListing& study) { return EntryOf(study); }

StudyView ToView(const v1::StudySummary& study) {
  StudyView view{EntryOf(study)};
  view.trials = {study.trials_by_state().begin(), study.trials_by_state().end()};
  view.claimed_steps = study.steps().claimed();
  view.unique_steps = study.steps().unique();
  view.trained_steps = study.steps().trained();
  view.reused_steps = study.steps().reused();
  view.merge_rate = study.merge_rate();
  view.slot_time = Seconds{study.slot_seconds()};
  view.shared_time = Seconds{study.shared_seconds()};
  view.saved_time = Seconds{study.saved_seconds()};
  view.weight = study.weight();
  view.definition = study.definition();
  view.keep = FromProto(study.keep()).value_or(Keep::kBest);
  return view;
}

TrialView ToView(const v1::Trial& trial) {
  TrialView view{.id = TrialId{trial.trial_id()},
                 .state = trial.state(),
                 .steps = Step{trial.steps()},
                 .horizon = Step{trial.horizon_steps()},
                 .sequences = {trial.sequences().begin(), trial.sequences().end()},
                 .metric = {},
                 .evaluations = ByStep(trial.evaluations()),
                 .state_sha256 = trial.state_sha256(),
                 .message = trial.message()};
  if (trial.has_metric()) view.metric = trial.metric();
  if (trial.has_origin()) {
    const v1::TrialOrigin& origin = trial.origin();
    view.origin = OriginView{StudyId{origin.study_id()}, origin.code_digest(), Step{origin.step()}};
  }
  return view;
}

TrialView ToView(const v1::GetTrialResponse& trial) {
  TrialView view = ToView(trial.trial());
  view.evaluations.merge(ByStep(trial.metrics()));
  return view;
}

CheckpointView ToView(const v1::ListedCheckpoint& checkpoint) {
  return {Step{checkpoint.point().step()}, checkpoint.state().file(), checkpoint.state().size_bytes()};
}

ForecastView ToView(const v1::ForecastResponse& forecast) {
  ForecastView view{.trials = forecast.trials(),
                    .total_steps = forecast.total_steps(),
                    .unique_steps = forecast.unique_steps(),
                    .merge_rate = forecast.merge_rate(),
                    .trained_steps = {},
                    .remaining_steps = {},
                    .reused_steps = forecast.reused_steps(),
                    .slot_time = {},
                    .critical_path = {},
                    .checkpoint_bytes = {}};
  if (forecast.has_trained_steps()) view.trained_steps = forecast.trained_steps();
  if (forecast.has_remaining_steps()) view.remaining_steps = forecast.remaining_steps();
  if (forecast.has_slot_seconds()) view.slot_time = Seconds{forecast.slot_seconds()};
  if (forecast.has_critical_path_seconds()) view.critical_path = Seconds{forecast.critical_path_seconds()};
  if (forecast.has_checkpoint_bytes()) view.checkpoint_bytes = forecast.checkpoint_bytes();
  return view;
}

v1::Continuation ToWire(const TrialBranch& branch) {
  v1::Continuation wire;
  wire.set_from_step(branch.at.value);
  wire.set_steps(branch.steps.value);
  wire.mutable_sequences()->insert(branch.change.begin(), branch.change.end());
  if (branch.decay) {
    v1::Decay& decay = *wire.mutable_decay();
    decay.set_parameter(branch.decay->parameter);
    decay.set_share(branch.decay->share);
    decay.set_shape(branch.decay->shape);
    decay.set_end(branch.decay->end);
  }
  return wire;
}

}  // namespace espalier
