#include "master/core/calls/requests.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/trial_edits.h"
#include "master/core/state/stored_text.h"
#include "master/core/state/visibility.h"
#include "searchplan/sequence/branched.h"

namespace espalier::master {
namespace {

Digest128 ContentOf(const ContinueTrialCall& call) {
  KeyText key("continue-trial-1");
  key.Add(call.user).Add(call.name).Add(call.definition).Add(std::to_string(call.trial.value));
  key.Add(std::to_string(call.steps.value)).Add(std::to_string(call.from_step.value));
  for (const auto& [name, text] : call.sequences) key.Add(name).Add(text);
  return DigestOf(key.text());
}

Result<void> CheckNameIsFree(const MasterState& state, const ContinueTrialCall& call) {
  ESPALIER_RETURN_IF_ERROR(CheckName(call.name, "name"));
  for (const StudyId id : state.running_studies) {
    const Study& study = state.studies.at(id);
    if (study.user != call.user || study.specification.name != call.name) continue;
    return MakeError(ErrorCode::kAlreadyExists, "study '" + call.name + "' is running; choose another name", "name");
  }
  return {};
}

Step StepsOf(const ContinueTrialCall& call, const Trial& trial) {
  return call.steps == Step{0} ? trial.horizon : call.steps;
}

Result<void> CheckSteps(const ContinueTrialCall& call, const Trial& trial) {
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
                                                       const ContinueTrialCall& call) {
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

// A study of the same kind, on the same device kind.
Result<Study> StudyOf(const Draft& draft, const Study& of_trial, const ContinueTrialCall& call) {
  StudySpecification specification = of_trial.specification;
  specification.name = call.name;
  specification.definition = call.definition;
  ESPALIER_ASSIGN(Study study, PlanStudy(draft.state(), specification));
  if (!(study.training == of_trial.training)) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "the trainer " + specification.trainer + " or its data has changed since the trial was trained",
                     "trial_id");
  }
  study.device_kind = of_trial.device_kind;
  study.id = draft.state().next.study;
  study.user = call.user;
  study.team = call.team;
  study.created_at = draft.now;
  return study;
}

Result<TrialContinued> ContinueTrial(Draft& draft, const ContinueTrialCall& call) {
  ESPALIER_RETURN_IF_ERROR(CheckRequestId(call.request_id));
  const RequestKey key{StudyId{0}, call.user + "/" + call.request_id};
  const Digest128 content = ContentOf(call);
  ESPALIER_ASSIGN(const std::optional<AnsweredRequest> answered, FindAnswer(draft.state(), key, content));
  if (answered) {
    return TrialContinued{StudyId{answered->ids.at(0)}, TrialId{answered->ids.at(1)}, ClaimId{answered->ids.at(2)}};
  }
  ESPALIER_ASSIGN(const Trial* trial, FindTrial(draft.state(), call.trial, {call.user, call.team}));
  ESPALIER_RETURN_IF_ERROR(CheckSteps(call, *trial));
  ESPALIER_RETURN_IF_ERROR(CheckNameIsFree(draft.state(), call));
  const Study& of_trial = draft.state().studies.at(trial->study);
  ESPALIER_ASSIGN(Study study, StudyOf(draft, of_trial, call));
  NewTrial next{.steps = StepsOf(call, *trial)};
  ESPALIER_ASSIGN(next.sequences, SequencesOf(of_trial, *trial, call));
  ESPALIER_ASSIGN(const ResolvedTrial resolved, Resolve(study, next));

  const PlanId plan = trial->plan;
  TrialContinued continued{.study = study.id};
  draft.Emit(LogLine{LogLevel::kInfo, "study created id=" + std::to_string(study.id.value) + " name=" + call.name +
                                          " from trial=" + std::to_string(call.trial.value)});
  draft.Do(AddStudy{std::move(study)});
  continued.trial = EnterTrial(draft, continued.study, resolved, plan);
  continued.claim = MakeClaim(draft, continued.study, continued.trial, next.steps);
  CloseStudyWithTrials(draft, continued.study, false);
  draft.Do(AddRequest{key, {content, {continued.study.value, continued.trial.value, continued.claim.value}}});
  return continued;
}

}  // namespace

void OnContinueTrial(Draft& draft, const ContinueTrialCall& call) {
  Answer(draft, call.call, ContinueTrial(draft, call));
}

}  // namespace espalier::master
