#include "master/rpc/convert.h"
#include "proto/convert_schema.h"
#include "proto/convert_study_choices.h"

namespace espalier::master {
namespace {

// In a forecast; the rest is only counted.
constexpr int kNearMissesShown = 20;
constexpr int kEarlyPartingsShown = 20;
constexpr int kPartingSequencesShown = 3;

v1::BestTrial ToProto(const BestTrial& best, const std::string& metric) {
  v1::BestTrial message;
  message.set_trial_id(best.trial.value);
  message.set_metric(metric);
  message.set_value(best.value);
  message.set_step(best.step.value);
  return message;
}

std::string StateOf(const Study& study) { return study.finished_at ? "finished" : "running"; }

void Fill(const Metrics& metrics, google::protobuf::Map<std::string, double>& map) {
  map.insert(metrics.begin(), metrics.end());
}

v1::ClaimSettled::State ToProto(ClaimState state) {
  switch (state) {
    case ClaimState::kDone:
      return v1::ClaimSettled::STATE_DONE;
    case ClaimState::kFailed:
      return v1::ClaimSettled::STATE_FAILED;
    case ClaimState::kCancelled:
      return v1::ClaimSettled::STATE_CANCELLED;
    case ClaimState::kWaiting:
      break;
  }
  return v1::ClaimSettled::STATE_UNSPECIFIED;
}

struct EventFiller {
  v1::StudyEvent& message;

  void operator()(const TrialSubmitted& event) const {
    message.mutable_trial_submitted()->set_trial_id(event.trial.value);
  }
  void operator()(const ClaimMade& event) const {
    v1::ClaimMade& made = *message.mutable_claim_made();
    made.set_claim_id(event.claim.value);
    made.set_trial_id(event.trial.value);
    made.set_step(event.step.value);
  }
  void operator()(const ClaimSettled& event) const {
    v1::ClaimSettled& settled = *message.mutable_claim_settled();
    settled.set_claim_id(event.claim.value);
    settled.set_trial_id(event.trial.value);
    settled.set_step(event.step.value);
    settled.set_state(ToProto(event.state));
    Fill(event.metrics, *settled.mutable_metrics());
    settled.set_message(event.message);
  }
  void operator()(const TrialClosed& event) const {
    message.mutable_trial_closed()->set_trial_id(event.trial.value);
    message.mutable_trial_closed()->set_cancelled(event.cancelled);
  }
  void operator()(const BatchTaken& event) const { message.mutable_batch_taken()->set_number(event.number); }
  void operator()(const SlotIdle&) const { message.mutable_slot_idle(); }
  void operator()(const StudyFinished&) const { message.mutable_study_finished(); }
};

PolicyChoices FromProto(const v1::PolicyChoices& message) {
  PolicyChoices choices{.may_stop = message.may_stop(), .min_steps = message.min_steps()};
  if (message.has_deadline_seconds()) choices.deadline = Seconds(message.deadline_seconds());
  choices.speeds.insert(message.speeds().begin(), message.speeds().end());
  return choices;
}

Continuation FromProto(const v1::Continuation& message) {
  Continuation continuation{.steps = Step{message.steps()},
                            .from_step = Step{message.from_step()},
                            .sequences = {message.sequences().begin(), message.sequences().end()}};
  if (message.has_decay()) {
    const v1::Decay& decay = message.decay();
    continuation.decay =
        Decay{.parameter = decay.parameter(), .share = decay.share(), .shape = decay.shape(), .end = decay.end()};
  }
  return continuation;
}

}  // namespace

Result<StudySpecification> FromProto(const v1::StudySpecification& message) {
  StudySpecification specification{.name = message.name(),
                                   .trainer = message.trainer(),
                                   .data = message.data(),
                                   .evaluate_every = message.evaluate_every_steps(),
                                   .metric = message.metric(),
                                   .goal = FromProto(message.goal()),
                                   .definition = message.definition(),
                                   .tuner = message.tuner(),
                                   .asks_for_idle_slots = message.asks_for_idle_slots(),
                                   .policy = FromProto(message.policy())};
  if (message.priority() != 0) specification.priority = message.priority();
  if (message.step().has_updates()) {
    specification.step.updates = message.step().updates();
    if (specification.step.updates < 1) {
      return MakeError(ErrorCode::kInvalidArgument, "expected epoch or at least 1 update", "step");
    }
  }
  if (message.has_hang_after_seconds()) specification.hang_after = Seconds(message.hang_after_seconds());
  const v1::StopRule& stop = message.stop();
  if (stop.has_after_seconds()) specification.stop.after = Seconds(stop.after_seconds());
  if (stop.has_device_seconds()) specification.stop.device_time = Seconds(stop.device_seconds());
  if (stop.has_metric()) specification.stop.metric = stop.metric();
  if (message.reuse_from_study_id() != 0) {
    specification.reuse = Reuse{.study = StudyId{message.reuse_from_study_id()}};
    if (message.reuse_until_step() != 0) specification.reuse->until = Step{message.reuse_until_step()};
  }
  ESPALIER_ASSIGN(specification.scope, FromProto(message.scope()));
  ESPALIER_ASSIGN(specification.keep, FromProto(message.keep()));
  ESPALIER_ASSIGN(specification.check, FromProto(message.check()));
  for (const auto& [name, type] : message.undeclared()) {
    const auto known = FromProto(static_cast<v1::ValueType>(type));
    if (!known.has_value()) return InField("undeclared", known.error());
    specification.undeclared[name] = *known;
  }
  if (!message.reference_digest().empty()) {
    const Result<Digest128> reference = ParseDigest128(message.reference_digest());
    if (!reference.has_value()) return InField("reference_digest", reference.error());
    specification.reference = *reference;
  }
  return specification;
}

namespace {

std::vector<Step> StepsOf(const google::protobuf::RepeatedField<std::int64_t>& steps) {
  std::vector<Step> result;
  for (const std::int64_t step : steps) result.push_back(Step{step});
  return result;
}

}  // namespace

NewTrial FromProto(const v1::NewTrial& message) {
  return {.sequences = {message.sequences().begin(), message.sequences().end()},
          .steps = Step{message.steps()},
          .horizon = Step{message.horizon_steps()},
          .more = StepsOf(message.more_steps())};
}

SubmitBatch FromProto(const v1::SubmitRequest& message) {
  SubmitBatch call{.study = StudyId{message.study_id()}, .finish = message.finish()};
  for (const v1::NewTrial& trial : message.new_trials()) call.new_trials.push_back(FromProto(trial));
  for (const v1::FurtherClaim& claim : message.claims()) {
    call.claims.push_back({TrialId{claim.trial_id()}, Step{claim.steps()}});
  }
  for (const std::int64_t trial : message.close_trial_ids()) call.close.push_back(TrialId{trial});
  for (const std::int64_t trial : message.cancel_trial_ids()) call.cancel.push_back(TrialId{trial});
  if (message.has_tuner_batch()) call.tuner_batch = message.tuner_batch();
  return call;
}

ContinueTrial FromProto(const v1::ContinueTrialRequest& message) {
  ContinueTrial call{.trial = TrialId{message.trial_id()},
                     .name = message.name(),
                     .definition = message.definition(),
                     .continuations = {},
                     .state_wanted = message.state_wanted()};
  for (const v1::Continuation& each : message.continuations()) call.continuations.push_back(FromProto(each));
  return call;
}

StudyQuery FromProto(const v1::ListStudiesRequest& message) {
  StudyQuery query{.state = message.state(), .token = message.page_token()};
  if (!message.metric().empty()) query.best_by = {message.metric(), FromProto(message.goal())};
  return query;
}

TrialQuery FromProto(const v1::ListTrialsRequest& message, StudyId study) {
  const bool by_metric = message.order() == v1::TRIAL_ORDER_METRIC;
  return {.study = study,
          .order = by_metric ? TrialOrder::kMetric : TrialOrder::kSubmission,
          .states = {message.states().begin(), message.states().end()},
          .token = message.page_token()};
}

v1::StudyEvent ToProto(const StudyEvent& event, std::int64_t number, Time at) {
  v1::StudyEvent message;
  message.set_number(number);
  *message.mutable_happened_at() = ToProto(at);
  std::visit(EventFiller{message}, event);
  return message;
}

v1::StudyProgress ToProto(const StudyProgress& progress) {
  v1::StudyProgress message;
  message.mutable_trials_by_state()->insert(progress.trials_by_state.begin(), progress.trials_by_state.end());
  message.set_claimed_steps(progress.claimed_steps);
  message.set_unique_steps(progress.unique_steps);
  message.set_trained_steps(progress.trained_steps);
  message.set_seconds_left(progress.left.count());
  for (const std::string& warning : progress.warnings) message.add_warnings(warning);
  return message;
}

v1::StudySummary ToProto(const StudySummary& summary, const Study& study) {
  v1::StudySummary message;
  const StudySpecification& specification = study.specification;
  message.set_study_id(study.id.value);
  message.set_name(specification.name);
  message.set_state(StateOf(study));
  message.mutable_trials_by_state()->insert(summary.trials_by_state.begin(), summary.trials_by_state.end());
  v1::StepCounts& steps = *message.mutable_steps();
  steps.set_claimed(summary.steps.claimed);
  steps.set_unique(summary.steps.unique);
  steps.set_trained(summary.steps.trained);
  steps.set_re_derived(summary.steps.re_derived);
  steps.set_wasted(summary.steps.wasted);
  steps.set_reused(summary.steps.reused);
  message.set_merge_rate(summary.merge_rate);
  message.set_time_weighted_merge_rate(summary.time_weighted_merge_rate);
  message.set_slot_seconds(summary.use.device.count());
  message.set_shared_seconds(summary.use.shared.count());
  message.set_saved_seconds(summary.use.saved.count());
  message.set_weight(study.weight);
  message.set_elapsed_seconds(summary.elapsed.count());
  message.set_makespan_bound_seconds(summary.makespan_bound.count());
  if (summary.best) *message.mutable_best() = ToProto(*summary.best, specification.metric);
  message.set_goal(ToProto(specification.goal));
  message.set_trainer(specification.trainer);
  message.set_scope(ToProto(specification.scope));
  message.set_definition(specification.definition);
  message.set_user(study.user);
  message.set_stopped(study.stopped);
  message.set_held_back(summary.held_back);
  message.set_keep(ToProto(study.keep));
  message.set_cancelled(study.cancelled);
  if (summary.check) {
    message.mutable_check()->set_state(summary.check->state);
    message.mutable_check()->set_text(summary.check->text);
  }
  if (const auto& reused = summary.reuse) {
    message.mutable_reuse()->set_study_id(reused->reuse.study.value);
    message.mutable_reuse()->set_code_digest(reused->code_digest);
    if (reused->reuse.until) message.mutable_reuse()->set_until_step(reused->reuse.until->value);
  }
  return message;
}

v1::TeamBill ToProto(const TeamBill& bill) {
  v1::TeamBill message;
  message.set_team(bill.team);
  message.set_weight(bill.weight);
  message.set_slots(bill.slots);
  message.set_device_seconds(bill.use.device.count());
  message.set_shared_seconds(bill.use.shared.count());
  message.set_saved_seconds(bill.use.saved.count());
  return message;
}

v1::StudyListing ToProto(const StudyListing& listing, const Study& study) {
  v1::StudyListing message;
  const StudySpecification& specification = study.specification;
  message.set_study_id(study.id.value);
  message.set_name(specification.name);
  message.set_user(study.user);
  message.set_state(StateOf(study));
  message.set_trainer(specification.trainer);
  message.set_goal(ToProto(specification.goal));
  message.set_scope(ToProto(specification.scope));
  message.mutable_trials_by_standing()->insert(listing.trials_by_standing.begin(), listing.trials_by_standing.end());
  message.set_claimed_steps(listing.claimed_steps);
  message.set_elapsed_seconds(listing.elapsed.count());
  if (specification.reuse) message.set_reuse_from_study_id(specification.reuse->study.value);
  if (listing.best) *message.mutable_best() = ToProto(*listing.best, specification.metric);
  return message;
}

v1::TrialEvaluation ToProto(const TrialEvaluation& evaluation) {
  v1::TrialEvaluation message;
  message.set_step(evaluation.step.value);
  Fill(evaluation.metrics, *message.mutable_metrics());
  return message;
}

v1::Trial ToProto(const TrialSummary& summary, const Trial& trial) {
  v1::Trial message;
  message.set_trial_id(trial.id.value);
  message.set_state(summary.state);
  message.set_steps(summary.steps.value);
  message.mutable_sequences()->insert(trial.sequences.begin(), trial.sequences.end());
  if (summary.metric) message.set_metric(*summary.metric);
  message.set_state_sha256(summary.state_sha256);
  for (const TrialEvaluation& evaluation : summary.evaluations) *message.add_evaluations() = ToProto(evaluation);
  message.set_horizon_steps(trial.horizon.value);
  message.set_message(summary.message);
  if (const auto& origin = summary.origin) {
    message.mutable_origin()->set_study_id(origin->study.value);
    message.mutable_origin()->set_code_digest(origin->code_digest);
    message.mutable_origin()->set_step(origin->point.step.value);
    message.mutable_origin()->set_plan_node_id(origin->point.node.value);
  }
  if (trial.label) {
    message.mutable_label()->set_policy(trial.label->policy);
    message.mutable_label()->set_text(trial.label->text);
  }
  return message;
}

v1::PlanNode ToProto(const PlanNodeView& view) {
  v1::PlanNode message;
  message.set_plan_node_id(view.id.value);
  message.set_parent_id(view.parent ? view.parent->value : 0);
  message.set_start_step(view.start.value);
  message.mutable_functions()->insert(view.functions.begin(), view.functions.end());
  for (const StageView& stage : view.stages) {
    v1::StageView& part = *message.add_stages();
    part.set_from_step(stage.from.value);
    part.set_to_step(stage.to.value);
    part.set_state(std::string(Name(stage.state)));
    if (stage.placed_on) *part.mutable_placed_on() = ToProto(*stage.placed_on);
  }
  for (const Step step : view.checkpoints) message.add_checkpoint_steps(step.value);
  message.set_trial_count(view.trial_count);
  for (const auto& [key, count] : view.claims) {
    v1::PlanClaims& claims = *message.add_claims();
    claims.set_step(key.first.value);
    claims.set_state(std::string(Name(key.second)));
    claims.set_count(count);
  }
  *message.mutable_costs() = ToProto(view.costs);
  return message;
}

namespace {

void AddHints(const SequenceHints& hints, v1::ForecastResponse& message) {
  message.set_near_miss_count(static_cast<std::int64_t>(hints.near_misses.size()));
  for (const SequencePair& pair : hints.near_misses) {
    if (message.near_misses_size() == kNearMissesShown) break;
    v1::NearMiss& part = *message.add_near_misses();
    part.set_hyper_parameter(pair.hyper_parameter);
    part.set_first(pair.first);
    part.set_second(pair.second);
    part.set_from_step(pair.near_miss.from.value);
    part.set_difference(pair.near_miss.difference);
    part.set_to_step(pair.near_miss.to < pair.horizon ? pair.near_miss.to.value : 0);
  }
  message.set_early_parting_count(static_cast<std::int64_t>(hints.early_partings.size()));
  for (const PartingSequences& parting : hints.early_partings) {
    if (message.early_partings_size() == kEarlyPartingsShown) break;
    v1::EarlyParting& part = *message.add_early_partings();
    part.set_hyper_parameter(parting.hyper_parameter);
    part.set_at_step(parting.parting.at.value);
    part.set_hint(Describe(parting.parting));
    part.set_sequence_count(static_cast<std::int64_t>(parting.texts.size()));
    for (const std::string& text : parting.texts) {
      if (part.sequences_size() == kPartingSequencesShown) break;
      part.add_sequences(text);
    }
  }
}

}  // namespace

v1::ForecastResponse ToProto(const Forecast& forecast) {
  const auto rate = [](std::int64_t total, std::int64_t unique) {
    return unique == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(unique);
  };
  v1::ForecastResponse message;
  for (const StudyForecast& study : forecast.studies) {
    v1::StudyForecast& part = *message.add_studies();
    part.set_name(study.name);
    part.set_trials(study.trials);
    part.set_total_steps(study.total_steps);
    part.set_unique_steps(study.unique_steps);
    part.set_merge_rate(rate(study.total_steps, study.unique_steps));
    part.set_is_kept_to_itself(study.is_kept_to_itself);
    message.set_trials(message.trials() + study.trials);
  }
  message.set_total_steps(forecast.total_steps);
  message.set_unique_steps(forecast.unique_steps);
  message.set_merge_rate(rate(forecast.total_steps, forecast.unique_steps));
  message.set_reused_steps(forecast.reused_steps);
  if (forecast.trained_steps) {
    message.set_trained_steps(*forecast.trained_steps);
    message.set_remaining_steps(forecast.unique_steps - *forecast.trained_steps);
  }
  if (forecast.slot_time) message.set_slot_seconds(forecast.slot_time->count());
  if (forecast.critical_path) message.set_critical_path_seconds(forecast.critical_path->count());
  if (forecast.checkpoint_bytes) message.set_checkpoint_bytes(*forecast.checkpoint_bytes);
  AddHints(forecast.hints, message);
  return message;
}

}  // namespace espalier::master
