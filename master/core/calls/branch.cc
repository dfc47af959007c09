#include "master/core/calls/branch.h"

#include <cmath>
#include <optional>

#include "base/text.h"
#include "master/core/state/stored_text.h"
#include "searchplan/sequence/branched.h"
#include "searchplan/sequence/sequence.h"

namespace espalier::master {
namespace {

Result<void> CheckFromStep(const Trial& trial, const Continuation& continuation) {
  const Step from = continuation.from_step;
  const Step least{continuation.decay ? 1 : 0};
  if (least <= from && from <= trial.horizon) return {};
  return MakeError(ErrorCode::kInvalidArgument,
                   "expected " + std::to_string(least.value) + " to " + std::to_string(trial.horizon.value) + ", got " +
                       std::to_string(from.value),
                   "from_step");
}

// Of a branch whose decay is the given share of its whole length.
Result<std::int64_t> DecaySteps(const Decay& decay, Step from) {
  if (!(decay.share > 0 && decay.share < 1)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected a share between 0 and 1, got " + espalier::Print(Value{decay.share}), "decay");
  }
  const double steps = std::round(static_cast<double>(from.value) * decay.share / (1 - decay.share));
  if (steps < 1 || steps > static_cast<double>((kStepMax - from))) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "a share of " + espalier::Print(Value{decay.share}) + " behind " + std::to_string(from.value) +
                         " steps is less than one step, or too many",
                     "decay");
  }
  return static_cast<std::int64_t>(steps);
}

Result<Step> StepsOf(const Trial& trial, const Continuation& continuation) {
  if (continuation.decay) {
    if (continuation.steps != Step{0}) {
      return MakeError(ErrorCode::kInvalidArgument, "a decay says by itself how far the branch goes", "steps");
    }
    ESPALIER_ASSIGN(const std::int64_t decay_steps, DecaySteps(*continuation.decay, continuation.from_step));
    return continuation.from_step + decay_steps;
  }
  const Step steps = continuation.steps == Step{0} ? trial.horizon : continuation.steps;
  if (steps > continuation.from_step) return steps;
  return MakeError(ErrorCode::kInvalidArgument,
                   "expected more than the " + std::to_string(continuation.from_step.value) +
                       " steps that it begins after, got " + std::to_string(steps.value),
                   "steps");
}

// What the hyper-parameter is where a trial of the study leaves it out; nothing if the study does not know it.
std::optional<Value> DefaultOf(const Study& study, const std::string& name) {
  if (const HyperParameter* declared = study.training.schema.Find(name)) return declared->default_value;
  const auto undeclared = study.specification.undeclared.find(name);
  if (undeclared == study.specification.undeclared.end()) return std::nullopt;
  return NeutralValue(undeclared->second);
}

// The hyper-parameter's sequence in the trial; nothing if neither the trial nor the study knows it.
Result<std::optional<Expression>> SequenceBefore(const Study& study, const Trial& trial, const std::string& name) {
  if (const auto given = trial.sequences.find(name); given != trial.sequences.end()) {
    auto before = ParseExpression(given->second);
    if (!before.has_value()) return InField(name, before.error());
    return std::optional(*std::move(before));
  }
  const std::optional<Value> value = DefaultOf(study, name);
  return value ? std::optional(Expression{*value}) : std::nullopt;
}

// From the value that it has there: Cooldown(value, end, steps, shape).
Result<Expression> CooldownOf(const Decay& decay, const Expression& before, Step from, std::int64_t steps) {
  const auto compiled = Compile(before, ValueType::kFloating, from + 1);
  if (!compiled.has_value()) return InField(decay.parameter, compiled.error());
  Call call{.family = "Cooldown", .arguments = {}};
  for (const Value& value : {At(*compiled, from), Value{decay.end}, Value{steps}, Value{decay.shape}}) {
    call.arguments.push_back({.name = "", .value = Expression{value}});
  }
  return Expression{std::move(call)};
}

Result<void> CoolDown(const Study& study, const Trial& trial, const Continuation& continuation, Branch& branch) {
  const Decay& decay = *continuation.decay;
  const std::string field = CleanText(decay.parameter, kNameBytesMax);
  if (continuation.sequences.contains(decay.parameter)) {
    return MakeError(ErrorCode::kInvalidArgument, "it cannot cool down and change to another sequence at once", field);
  }
  ESPALIER_RETURN_IF_ERROR(CheckText(decay.shape, kNameBytesMax, "decay"));
  ESPALIER_ASSIGN(const std::optional<Expression> before, SequenceBefore(study, trial, decay.parameter));
  if (!before) {
    return MakeError(ErrorCode::kInvalidArgument, "the trial has no such hyper-parameter to cool down", field);
  }
  const Step from = continuation.from_step;
  ESPALIER_ASSIGN(const Expression after, CooldownOf(decay, *before, from, branch.steps - from));
  branch.sequences[decay.parameter] = Print(Branched(*before, from, after));
  return {};
}

Result<void> Change(const Study& study, const Trial& trial, const std::string& name, const std::string& text, Step from,
                    Branch& branch) {
  ESPALIER_RETURN_IF_ERROR(CheckText(text, kTextBytesMax, CleanText(name, kNameBytesMax)));
  ESPALIER_ASSIGN(const std::optional<Expression> before, SequenceBefore(study, trial, name));
  if (from == Step{0} || !before) {
    branch.sequences[name] = text;
    return {};
  }
  const auto after = ParseExpression(text);
  if (!after.has_value()) return InField(name, after.error());
  branch.sequences[name] = Print(Branched(*before, from, *after));
  return {};
}

}  // namespace

Result<Branch> BranchOf(const Study& study, const Trial& trial, const Continuation& continuation) {
  ESPALIER_RETURN_IF_ERROR(CheckFromStep(trial, continuation));
  Branch branch{.sequences = trial.sequences, .steps = {}};
  ESPALIER_ASSIGN(branch.steps, StepsOf(trial, continuation));
  for (const auto& [name, text] : continuation.sequences) {
    ESPALIER_RETURN_IF_ERROR(Change(study, trial, name, text, continuation.from_step, branch));
  }
  if (continuation.decay) ESPALIER_RETURN_IF_ERROR(CoolDown(study, trial, continuation, branch));
  return branch;
}

}  // namespace espalier::master
