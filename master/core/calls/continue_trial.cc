#include "base/key_text.h"
#include "master/core/calls/branch.h"
#include "master/core/calls/new_trials_quota.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/trial_edits.h"
#include "master/core/origin.h"
#include "master/core/state/stored_text.h"
#include "searchplan/sequence/joint_segment_count.h"

namespace espalier::master {
namespace {

Result<void> CheckNameIsFree(const MasterState& state, const Caller& caller, const ContinueTrial& call) {
  ESPALIER_RETURN_IF_ERROR(CheckName(call.name, "name"));
  for (const StudyId id : state.running_studies) {
    const Study& study = state.studies.at(id);
    if (study.user != caller.user || study.specification.name != call.name) continue;
    return MakeError(ErrorCode::kAlreadyExists, "study '" + call.name + "' is running; choose another name", "name");
  }
  return {};
}

// What the new study would be by what servers offer now; by what they were offered for the trial, where its code came
// with it, and is kept.
Result<Study> PlanAnew(const Draft& draft, const Study& of_trial, const StudySpecification& specification) {
  if (!specification.reference) return PlanStudy(draft.state(), specification);
  const std::string& archive = draft.state().references.at(*specification.reference).archive;
  if (!archive.empty() && !draft.state().archives.contains(archive)) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "the service keeps the code of trainer " + specification.trainer +
                         " no more; a new study with the same code brings it again",
                     "trial_id");
  }
  Study study;
  study.specification = specification;
  study.training = of_trial.training;
  study.evaluation = of_trial.evaluation;
  study.metric_names = of_trial.metric_names;
  return study;
}

// A study of the same kind, on the same device kind.
Result<Study> StudyOf(const Draft& draft, const Study& of_trial, const Caller& caller, const ContinueTrial& call) {
  StudySpecification specification = of_trial.specification;
  specification.name = call.name;
  specification.definition = call.definition;
  specification.tuner.clear();  // it asks for no more than this
  specification.asks_for_idle_slots = false;
  specification.policy = {};
  ESPALIER_ASSIGN(Study study, PlanAnew(draft, of_trial, specification));
  if (!(study.training == of_trial.training)) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "the trainer " + specification.trainer + " or its data has changed since the trial was trained",
                     "trial_id");
  }
  study.device_kind = of_trial.device_kind;
  ESPALIER_RETURN_IF_ERROR(CheckMayTrain(draft.state(), study));
  study.id = draft.state().next.study;
  study.user = caller.user;
  study.team = caller.team;
  study.created_at = draft.now;
  study.first_run = draft.state().next.run;
  return study;
}

// Which of several it is about.
tl::unexpected<Error> OfContinuation(std::size_t index, std::size_t count, const Error& error) {
  if (count == 1) return tl::unexpected<Error>(error);
  return InField("continuations[" + std::to_string(index) + "]", error);
}

// Whoever has recalled it has seen to it that the caller may see it.
Result<const Trial*> FindTrialOf(const MasterState& state, const Caller& caller, const ContinueTrial& call) {
  return call.recalled ? &*call.recalled : FindTrial(state, call.trial, caller);
}

Result<std::vector<NewTrial>> NextTrials(const Study& of_trial, const Trial& trial, const ContinueTrial& call) {
  if (call.continuations.empty() || call.continuations.size() > kContinuationCountMax) {
    return MakeError(
        ErrorCode::kInvalidArgument,
        "expected 1 to " + std::to_string(kContinuationCountMax) + ", got " + std::to_string(call.continuations.size()),
        "continuations");
  }
  std::vector<NewTrial> next;
  for (std::size_t i = 0; i < call.continuations.size(); ++i) {
    auto branch = BranchOf(of_trial, trial, call.continuations[i]);
    if (!branch.has_value()) return OfContinuation(i, call.continuations.size(), branch.error());
    next.push_back({.sequences = std::move(branch->sequences), .steps = branch->steps});
  }
  return next;
}

// REQUIRES: the trials outlive the result. Error: kResourceExhausted where several have more segments together than a
// batch may have.
Result<std::vector<ResolvedTrial>> ResolveAll(const Study& study, const std::vector<NewTrial>& trials) {
  std::vector<ResolvedTrial> resolved;
  std::size_t segments = 0;
  std::int64_t horizons = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    auto one = Resolve(study, trials[i]);
    if (!one.has_value()) return OfContinuation(i, trials.size(), one.error());
    if (auto counted = CountHorizon(*one, horizons); !counted.has_value()) {
      return OfContinuation(i, trials.size(), counted.error());
    }
    segments += one->segments.size();
    if (trials.size() > 1 && segments > kBatchSegmentsMax) {
      return MakeError(ErrorCode::kResourceExhausted,
                       "they have at most " + std::to_string(kBatchSegmentsMax) +
                           " joint segments together, unless there is one alone; ask for fewer at once",
                       "continuations");
    }
    resolved.push_back(*std::move(one));
  }
  return resolved;
}

}  // namespace

Digest128 ContentOf(const Caller& caller, const ContinueTrial& call) {
  KeyText key("continue-trial-2");
  key.Add(caller.user).Add(call.name).Add(call.definition).Add(std::to_string(call.trial.value));
  key.Add(call.state_wanted ? "state" : "");
  for (const Continuation& each : call.continuations) {
    key.Add(std::to_string(each.steps.value)).Add(std::to_string(each.from_step.value));
    key.Add(std::to_string(each.sequences.size()));
    for (const auto& [name, text] : each.sequences) key.Add(name).Add(text);
    key.Add(each.decay ? "decay" : "");
    if (!each.decay) continue;
    key.Add(each.decay->parameter).Add(espalier::Print(Value{each.decay->share}));
    key.Add(each.decay->shape).Add(espalier::Print(Value{each.decay->end}));
  }
  return DigestOf(key.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const ContinueTrial& call) {
  ESPALIER_ASSIGN(const Trial* trial, FindTrialOf(draft.state(), caller, call));
  ESPALIER_RETURN_IF_ERROR(CheckNameIsFree(draft.state(), caller, call));
  const Study& of_trial = draft.state().studies.at(trial->study);
  ESPALIER_ASSIGN(const std::vector<NewTrial> next, NextTrials(of_trial, *trial, call));
  ESPALIER_ASSIGN(Study study, StudyOf(draft, of_trial, caller, call));
  ESPALIER_ASSIGN(const std::vector<ResolvedTrial> resolved, ResolveAll(study, next));
  ESPALIER_RETURN_IF_ERROR(CheckQuotas(draft.state(), study, resolved, 0, trial));

  const PlanId plan = trial->plan;
  const StudyId id = study.id;
  draft.Log(LogLevel::kInfo, "study created", {{"study", id}, {"name", call.name}, {"from_trial", call.trial}});
  draft.Do(AddStudy{std::move(study)});
  std::vector<std::int64_t> ids = {id.value};
  for (const ResolvedTrial& each : resolved) {
    const auto origin = OriginOfContinuation(draft.state(), draft.state().studies.at(id), each, *trial);
    const TrialId entered = EnterTrial(draft, id, each, plan, origin);
    const ClaimId claim = MakeClaim(draft, id, entered, each.trial->steps);
    if (call.state_wanted) ClaimItsState(draft, plan, claim);
    ids.push_back(entered.value);
    ids.push_back(claim.value);
  }
  CloseStudyWithTrials(draft, id, false);
  return ids;
}

TrialContinued AnswerOf(const ContinueTrial&, const std::vector<std::int64_t>& ids) {
  TrialContinued continued{.study = StudyId{ids.at(0)}, .trials = {}, .claims = {}};
  for (std::size_t i = 1; i + 1 < ids.size(); i += 2) {
    continued.trials.push_back(TrialId{ids[i]});
    continued.claims.push_back(ClaimId{ids[i + 1]});
  }
  return continued;
}

}  // namespace espalier::master
