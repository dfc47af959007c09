#include "base/key_text.h"
#include "base/text.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/trial_edits.h"
#include "master/core/state/stored_text.h"
#include "searchplan/sequence/branched.h"

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

Step StepsOf(const ContinueTrial& call, const Trial& trial) {
  return call.steps == Step{0} ? trial.horizon : call.steps;
}

Result<void> CheckSteps(const ContinueTrial& call, const Trial& trial) {
  const std::int64_t most = trial.horizon.value;
  if (call.from_step < Step{0} || call.from_step > trial.horizon) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected 0 to " + std::to_string(most) + ", got " + std::to_string(call.from_step.value),
                     "from_step");
  }
  if (StepsOf(call, trial) > call.from_step) return {};
  return MakeError(ErrorCode::kInvalidArgument,
                   "expected more than the " + std::to_string(call.from_step.value) +
                       " steps that it begins after, got " + std::to_string(StepsOf(call, trial).value),
                   "steps");
}

// What the hyper-parameter is where a trial of the study leaves it out; nothing if the study does not know it.
std::optional<Value> DefaultOf(const Study& study, const std::string& name) {
  if (const HyperParameter* declared = study.training.schema.Find(name)) return declared->default_value;
  const auto undeclared = study.specification.undeclared.find(name);
  if (undeclared == study.specification.undeclared.end()) return std::nullopt;
  return NeutralValue(undeclared->second);
}

// The trial's sequences with those of the call behind them.
Result<std::map<std::string, std::string>> SequencesOf(const Study& study, const Trial& trial,
                                                       const ContinueTrial& call) {
  std::map<std::string, std::string> sequences = trial.sequences;
  for (const auto& [name, text] : call.sequences) {
    ESPALIER_RETURN_IF_ERROR(CheckText(text, kTextBytesMax, CleanText(name, kNameBytesMax)));
    const auto given = sequences.find(name);
    const std::optional<Value> value = DefaultOf(study, name);
    if (call.from_step == Step{0} || (given == sequences.end() && !value)) {
      sequences[name] = text;  // checked with the whole trial
      continue;
    }
    const auto before =
        given == sequences.end() ? Result<Expression>(Expression{*value}) : ParseExpression(given->second);
    if (!before.has_value()) return InField(name, before.error());
    const auto after = ParseExpression(text);
    if (!after.has_value()) return InField(name, after.error());
    sequences[name] = Print(Branched(*before, call.from_step, *after));
  }
  return sequences;
}

// What the new study would be by what servers offer now; by what they were offered for the trial, where its code came
// with it: that code is kept.
Result<Study> PlanAnew(const Draft& draft, const Study& of_trial, const StudySpecification& specification) {
  if (!specification.reference) return PlanStudy(draft.state(), specification);
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
  return study;
}

}  // namespace

Digest128 ContentOf(const Caller& caller, const ContinueTrial& call) {
  KeyText key("continue-trial-1");
  key.Add(caller.user).Add(call.name).Add(call.definition).Add(std::to_string(call.trial.value));
  key.Add(std::to_string(call.steps.value)).Add(std::to_string(call.from_step.value));
  for (const auto& [name, text] : call.sequences) key.Add(name).Add(text);
  key.Add(call.state_wanted ? "state" : "");
  return DigestOf(key.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const ContinueTrial& call) {
  ESPALIER_ASSIGN(const Trial* trial, FindTrial(draft.state(), call.trial, caller));
  ESPALIER_RETURN_IF_ERROR(CheckSteps(call, *trial));
  ESPALIER_RETURN_IF_ERROR(CheckNameIsFree(draft.state(), caller, call));
  const Study& of_trial = draft.state().studies.at(trial->study);
  ESPALIER_ASSIGN(Study study, StudyOf(draft, of_trial, caller, call));
  NewTrial next{.steps = StepsOf(call, *trial)};
  ESPALIER_ASSIGN(next.sequences, SequencesOf(of_trial, *trial, call));
  ESPALIER_ASSIGN(const ResolvedTrial resolved, Resolve(study, next));

  const PlanId plan = trial->plan;
  const StudyId id = study.id;
  draft.Emit(LogLine{LogLevel::kInfo, "study created id=" + std::to_string(id.value) + " name=" + call.name +
                                          " from trial=" + std::to_string(call.trial.value)});
  draft.Do(AddStudy{std::move(study)});
  const TrialId entered = EnterTrial(draft, id, resolved, plan);
  const ClaimId claim = MakeClaim(draft, id, entered, next.steps);
  if (call.state_wanted) ClaimItsState(draft, plan, claim);
  CloseStudyWithTrials(draft, id, false);
  return std::vector{id.value, entered.value, claim.value};
}

TrialContinued AnswerOf(const ContinueTrial&, const std::vector<std::int64_t>& ids) {
  return {StudyId{ids.at(0)}, TrialId{ids.at(1)}, ClaimId{ids.at(2)}};
}

}  // namespace espalier::master
