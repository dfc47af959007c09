#include "client/convert.h"

#include "proto/convert_schema.h"
#include "proto/convert_study_choices.h"

namespace espalier {

v1::StudySpecification ToWire(const StudySpecification& specification) {
  v1::StudySpecification wire;
  wire.set_name(specification.name);
  wire.set_trainer(specification.trainer);
  wire.set_data(specification.data);
  *wire.mutable_step() = ToProto(specification.step);
  wire.set_evaluate_every_steps(specification.evaluate_every_steps);
  if (specification.hang_after) wire.set_hang_after_seconds(specification.hang_after->count());
  const StopRule& stop = specification.stop;
  if (stop.after) wire.mutable_stop()->set_after_seconds(stop.after->count());
  if (stop.device_time) wire.mutable_stop()->set_device_seconds(stop.device_time->count());
  if (stop.metric) wire.mutable_stop()->set_metric(*stop.metric);
  if (const auto& reuse = specification.reuse) {
    wire.set_reuse_from_study_id(reuse->study.value);
    wire.set_reuse_until_step(reuse->until ? reuse->until->value : 0);
  }
  wire.set_metric(specification.metric);
  wire.set_goal(ToProto(specification.goal));
  wire.set_scope(ToProto(specification.scope));
  wire.set_keep(ToProto(specification.keep));
  wire.set_check(ToProto(specification.check));
  wire.set_definition(specification.definition);
  wire.set_reference_digest(specification.reference);
  wire.set_tuner(specification.tuner);
  wire.set_asks_for_idle_slots(specification.asks_for_idle_slots);
  const PolicyChoices& policy = specification.policy;
  wire.mutable_policy()->set_may_stop(policy.may_stop);
  if (policy.deadline) wire.mutable_policy()->set_deadline_seconds(policy.deadline->count());
  wire.mutable_policy()->set_min_steps(policy.min_steps);
  for (const auto& [slots, speed] : policy.speeds) {
    (*wire.mutable_policy()->mutable_speeds())[static_cast<std::int32_t>(slots)] = speed;
  }
  wire.set_priority(specification.priority);
  for (const auto& [name, type] : specification.undeclared) (*wire.mutable_undeclared())[name] = ToProto(type);
  return wire;
}

v1::NewTrial ToWire(const tuners::StartTrial& trial) {
  v1::NewTrial wire;
  wire.mutable_sequences()->insert(trial.sequences.begin(), trial.sequences.end());
  wire.set_steps(trial.steps.value);
  wire.set_horizon_steps(trial.horizon.value);
  for (const Step more : trial.more) wire.add_more_steps(more.value);
  return wire;
}

namespace {

ClaimState StateOf(v1::ClaimSettled::State state) {
  switch (state) {
    case v1::ClaimSettled::STATE_DONE:
      return ClaimState::kDone;
    case v1::ClaimSettled::STATE_CANCELLED:
      return ClaimState::kCancelled;
    default:
      return ClaimState::kFailed;
  }
}

// Empty for a result.
std::string WhyNoResult(const v1::ClaimSettled& settled) {
  if (settled.state() != v1::ClaimSettled::STATE_CANCELLED || !settled.message().empty()) return settled.message();
  return "its trial was withdrawn, or its study cancelled; submit it again, to a study that runs";
}

}  // namespace

std::optional<StudyEvent> FromWire(const v1::StudyEvent& event) {
  switch (event.kind_case()) {
    case v1::StudyEvent::kTrialSubmitted:
      return TrialSubmitted{TrialId{event.trial_submitted().trial_id()}};
    case v1::StudyEvent::kClaimMade: {
      const v1::ClaimMade& made = event.claim_made();
      return ClaimMade{ClaimId{made.claim_id()}, TrialId{made.trial_id()}, Step{made.step()}};
    }
    case v1::StudyEvent::kClaimSettled: {
      const v1::ClaimSettled& settled = event.claim_settled();
      return ClaimSettled{.claim = ClaimId{settled.claim_id()},
                          .trial = TrialId{settled.trial_id()},
                          .step = Step{settled.step()},
                          .state = StateOf(settled.state()),
                          .metrics = {settled.metrics().begin(), settled.metrics().end()},
                          .message = WhyNoResult(settled)};
    }
    case v1::StudyEvent::kTrialClosed:
      return TrialClosed{TrialId{event.trial_closed().trial_id()}, event.trial_closed().cancelled()};
    case v1::StudyEvent::kBatchTaken:
      return BatchTaken{event.batch_taken().number()};
    case v1::StudyEvent::kSlotIdle:
      return SlotIdle{};
    case v1::StudyEvent::kStudyFinished:
      return StudyFinished{};
    case v1::StudyEvent::KIND_NOT_SET:
      break;
  }
  return std::nullopt;
}

std::string_view Name(v1::Role role) {
  switch (role) {
    case v1::ROLE_MEMBER:
      return "member";
    case v1::ROLE_ADMINISTRATOR:
      return "administrator";
    case v1::ROLE_NODE:
      return "node";
    case v1::ROLE_TUNER:
      return "tuner";
    default:
      return "";
  }
}

v1::Role RoleOf(std::string_view name) {
  for (const v1::Role role : {v1::ROLE_MEMBER, v1::ROLE_ADMINISTRATOR, v1::ROLE_NODE, v1::ROLE_TUNER}) {
    if (Name(role) == name) return role;
  }
  return v1::ROLE_UNSPECIFIED;
}

}  // namespace espalier
