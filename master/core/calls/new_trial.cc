#include "master/core/calls/new_trial.h"

#include "base/text.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

constexpr std::size_t kClaimsOfNewTrialMax = 1000;

}  // namespace

Result<ResolvedTrial> Resolve(const Study& study, const NewTrial& trial) {
  ResolvedTrial resolved{.trial = &trial, .horizon = trial.horizon == Step{0} ? trial.steps : trial.horizon};
  if (trial.steps < Step{1} || trial.steps > kStepMax) {
    return MakeError(ErrorCode::kInvalidArgument, "expected 1 to 2^53 steps, got " + std::to_string(trial.steps.value),
                     "steps");
  }
  if (resolved.horizon < trial.steps || resolved.horizon > kStepMax) {
    return MakeError(
        ErrorCode::kInvalidArgument,
        "expected at least the trial's steps and at most 2^53, got " + std::to_string(resolved.horizon.value),
        "horizon_steps");
  }
  if (trial.more.size() > kClaimsOfNewTrialMax) {
    return MakeError(
        ErrorCode::kResourceExhausted,
        "expected at most " + std::to_string(kClaimsOfNewTrialMax) + ", got " + std::to_string(trial.more.size()),
        "more_steps");
  }
  Step last = trial.steps;
  for (const Step more : trial.more) {
    if (more <= last || more > resolved.horizon) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "expected more than " + std::to_string(last.value) + " and at most " +
                           std::to_string(resolved.horizon.value) + " steps, got " + std::to_string(more.value),
                       "more_steps");
    }
    last = more;
  }
  std::map<std::string, Expression> expressions;
  for (const auto& [name, text] : trial.sequences) {
    const std::string field = CleanText(name, kNameBytesMax);
    ESPALIER_RETURN_IF_ERROR(CheckName(name, field));
    ESPALIER_RETURN_IF_ERROR(CheckText(text, kExpressionBytesMax, field));
    auto expression = ParseExpression(text);
    if (!expression.has_value()) return InField(name, expression.error());
    expressions.emplace(name, std::move(*expression));
  }
  ESPALIER_ASSIGN(resolved.segments,
                  ResolveTrial(study.training.schema, expressions, resolved.horizon, study.specification.undeclared));
  return resolved;
}

Result<void> CountHorizon(const ResolvedTrial& trial, std::int64_t& sum) {
  if (trial.horizon.value > kStudyStepsMax - sum) {
    return MakeError(ErrorCode::kResourceExhausted,
                     "expected at most 2^62 steps over all trials of a study, got " +
                         std::to_string(trial.horizon.value) + " beside " + std::to_string(sum),
                     "horizon_steps");
  }
  sum += trial.horizon.value;
  return {};
}

}  // namespace espalier::master
