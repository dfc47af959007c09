#include <algorithm>
#include <iterator>

#include "base/key_text.h"
#include "master/core/calls/new_trial.h"
#include "master/core/calls/new_trials_quota.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/trial_edits.h"
#include "master/core/origin.h"
#include "master/core/settling.h"
#include "master/core/state/claims.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

std::string Indexed(const char* list, std::size_t index) { return list + ("[" + std::to_string(index) + "]"); }

// Whether the study's tuner, or the host that carries it on, may not have heard yet that the trial was cancelled.
bool IsCancelledForTuner(const MasterState& state, const Trial& trial) {
  return trial.cancelled && !state.studies.at(trial.study).specification.tuner.empty();
}

bool Waits(const MasterState& state, const Trial& trial) {
  return !StateClaimsOf(state, trial.id).empty() || LastWaitingClaim(state.plans.at(trial.plan), trial) != nullptr;
}

// `or_waiting`: a closed trial will do if it has a waiting claim.
Result<void> CheckOpenTrial(const MasterState& state, StudyId study, TrialId id, bool or_waiting) {
  const auto trial = state.trials.find(id);
  if (trial == state.trials.end() || trial->second.study != study) {
    return MakeError(ErrorCode::kNotFound, "the study has no trial " + std::to_string(id.value));
  }
  if (IsCancelledForTuner(state, trial->second)) return {};
  if (trial->second.closed && !(or_waiting && Waits(state, trial->second))) {
    return MakeError(ErrorCode::kFailedPrecondition, "trial " + std::to_string(id.value) + " is closed");
  }
  return {};
}

Result<void> CheckClaim(const MasterState& state, const FurtherClaim& claim) {
  const Trial& trial = state.trials.at(claim.trial);
  const SearchPlan& plan = state.plans.at(trial.plan);
  const Step last = trial.claims.empty() ? Step{0} : plan.claims.at(trial.claims.back()).point.step;
  if (claim.steps > last && claim.steps <= trial.horizon) return {};
  return MakeError(ErrorCode::kInvalidArgument,
                   "expected more than " + std::to_string(last.value) + " and at most " +
                       std::to_string(trial.horizon.value) + " steps, got " + std::to_string(claim.steps.value),
                   "steps");
}

Result<void> CheckSize(const SubmitBatch& call) {
  const auto check = [](const char* field, std::size_t count) -> Result<void> {
    if (count <= kBatchCountMax) return {};
    return MakeError(ErrorCode::kResourceExhausted,
                     "expected at most " + std::to_string(kBatchCountMax) + " in a batch, got " + std::to_string(count),
                     field);
  };
  ESPALIER_RETURN_IF_ERROR(check("trials", call.new_trials.size()));
  ESPALIER_RETURN_IF_ERROR(check("claims", call.claims.size()));
  ESPALIER_RETURN_IF_ERROR(check("close_trial_ids", call.close.size()));
  return check("cancel_trial_ids", call.cancel.size());
}

Result<void> CheckBatch(const MasterState& state, const SubmitBatch& call) {
  if (call.tuner_batch && *call.tuner_batch != state.tuner_turns.at(call.study).batch_count) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "expected the tuner's batch " + std::to_string(state.tuner_turns.at(call.study).batch_count) +
                         " next, got " + std::to_string(*call.tuner_batch),
                     "tuner_batch");
  }
  std::set<TrialId> claimed;
  for (std::size_t i = 0; i < call.claims.size(); ++i) {
    const TrialId trial = call.claims[i].trial;
    if (auto open = CheckOpenTrial(state, call.study, trial, false); !open.has_value()) {
      return InField(Indexed("claims", i), open.error());
    }
    if (auto fits = CheckClaim(state, call.claims[i]); !fits.has_value()) {
      return InField(Indexed("claims", i), fits.error());
    }
    if (!claimed.insert(trial).second) {
      return MakeError(ErrorCode::kInvalidArgument, "one claim a trial in a batch", Indexed("claims", i));
    }
  }
  std::set<TrialId> ended;
  const auto check_end = [&](const char* list, std::size_t i, TrialId trial, bool cancel) -> Result<void> {
    if (auto open = CheckOpenTrial(state, call.study, trial, cancel); !open.has_value()) {
      return InField(Indexed(list, i), open.error());
    }
    if (ended.insert(trial).second) return {};
    return MakeError(ErrorCode::kInvalidArgument, "trial " + std::to_string(trial.value) + " is named twice",
                     Indexed(list, i));
  };
  for (std::size_t i = 0; i < call.close.size(); ++i) {
    ESPALIER_RETURN_IF_ERROR(check_end("close_trial_ids", i, call.close[i], false));
  }
  for (std::size_t i = 0; i < call.cancel.size(); ++i) {
    ESPALIER_RETURN_IF_ERROR(check_end("cancel_trial_ids", i, call.cancel[i], true));
  }
  return {};
}

// How many trials are open no more once the batch is taken. REQUIRES: CheckBatch.
std::int64_t CountEnding(const MasterState& state, const SubmitBatch& call) {
  const auto is_idle = [&](TrialId trial) { return !Waits(state, state.trials.at(trial)); };
  return std::ranges::count_if(call.close, is_idle) + std::ssize(call.cancel);
}

}  // namespace

Digest128 ContentOf(const Caller& caller, const SubmitBatch& call) {
  KeyText key("submit-2");
  key.Add(caller.user).Add(call.finish ? "finish" : "");
  const auto add_number = [&](std::int64_t number) { key.Add(std::to_string(number)); };
  add_number(static_cast<std::int64_t>(call.new_trials.size()));
  for (const NewTrial& trial : call.new_trials) {
    add_number(trial.steps.value);
    add_number(trial.horizon.value);
    add_number(static_cast<std::int64_t>(trial.sequences.size()));
    for (const auto& [name, text] : trial.sequences) key.Add(name).Add(text);
    add_number(static_cast<std::int64_t>(trial.more.size()));
    for (const Step more : trial.more) add_number(more.value);
  }
  add_number(static_cast<std::int64_t>(call.claims.size()));
  for (const FurtherClaim& claim : call.claims) {
    add_number(claim.trial.value);
    add_number(claim.steps.value);
  }
  add_number(static_cast<std::int64_t>(call.close.size()));
  for (const TrialId trial : call.close) add_number(trial.value);
  for (const TrialId trial : call.cancel) add_number(trial.value);
  add_number(call.tuner_batch.value_or(-1));
  return DigestOf(key.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller&, const SubmitBatch& call) {
  ESPALIER_RETURN_IF_ERROR(CheckSize(call));
  const Study& study = draft.state().studies.at(call.study);
  if (study.closing) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "study " + std::to_string(call.study.value) +
                         (study.cancelled ? " was cancelled" : " is finished") +
                         " and takes no more; create another, or go on from a trial of it: espalier trial extend");
  }
  std::vector<ResolvedTrial> trials;
  const auto entered = draft.state().horizons.find(call.study);
  std::int64_t horizons = entered == draft.state().horizons.end() ? 0 : entered->second;
  for (std::size_t i = 0; i < call.new_trials.size(); ++i) {
    auto resolved = Resolve(study, call.new_trials[i]);
    if (!resolved.has_value()) return InField(Indexed("trials", i), resolved.error());
    if (auto counted = CountHorizon(*resolved, horizons); !counted.has_value()) {
      return InField(Indexed("trials", i), counted.error());
    }
    trials.push_back(std::move(*resolved));
  }
  ESPALIER_RETURN_IF_ERROR(CheckBatch(draft.state(), call));
  ESPALIER_RETURN_IF_ERROR(CheckQuotas(draft.state(), study, trials, CountEnding(draft.state(), call)));

  std::vector<std::int64_t> trial_ids;
  std::vector<std::int64_t> claim_ids;
  for (const ResolvedTrial& trial : trials) {
    const PlanId plan = PlanFor(draft, study, draft.state().next.trial);
    const auto origin = FindOrigin(draft.state(), study, trial, plan, study.created_at);
    const TrialId id = EnterTrial(draft, call.study, trial, plan, origin);
    trial_ids.push_back(id.value);
    claim_ids.push_back(MakeClaim(draft, call.study, id, trial.trial->steps).value);
    for (const Step more : trial.trial->more) claim_ids.push_back(MakeClaim(draft, call.study, id, more).value);
  }
  for (const FurtherClaim& claim : call.claims) {
    const ClaimId id = MakeClaim(draft, call.study, claim.trial, claim.steps);
    claim_ids.push_back(id.value);
    const Trial& trial = draft.state().trials.at(claim.trial);
    if (IsCancelledForTuner(draft.state(), trial)) Settle(draft, trial.plan, id, ClaimState::kCancelled);
  }
  for (const TrialId trial : call.close) EndTrial(draft, trial, false);
  for (const TrialId trial : call.cancel) EndTrial(draft, trial, true);
  if (call.tuner_batch) AppendEvent(draft, call.study, BatchTaken{*call.tuner_batch});
  if (call.finish) CloseStudyWithTrials(draft, call.study, false);
  trial_ids.insert(trial_ids.end(), claim_ids.begin(), claim_ids.end());
  return trial_ids;
}

Submitted AnswerOf(const SubmitBatch& call, const std::vector<std::int64_t>& ids) {
  Submitted submitted;
  for (const std::int64_t id : ids) {
    if (submitted.trials.size() < call.new_trials.size()) {
      submitted.trials.push_back(TrialId{id});
    } else {
      submitted.claims.push_back(ClaimId{id});
    }
  }
  return submitted;
}

}  // namespace espalier::master
