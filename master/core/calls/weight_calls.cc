#include "master/core/calls/weight_calls.h"

#include "base/key_text.h"
#include "master/core/calls/user_calls.h"

namespace espalier::master {
namespace {

Result<void> CheckWeight(double weight) {
  if (weight >= kWeightMin && weight <= kWeightMax) return {};
  return MakeError(ErrorCode::kInvalidArgument, "expected a number from 0.001 to 1000", "weight");
}

}  // namespace

Digest128 ContentOf(const Caller&, const WeighTeam& call) {
  return DigestOf(KeyText("weigh-team-1").Add(call.team).Add(std::to_string(call.weight)).text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const WeighTeam& call) {
  ESPALIER_RETURN_IF_ERROR(CheckWeight(call.weight));
  ESPALIER_RETURN_IF_ERROR(CheckTeam(draft.state(), call.team));
  draft.Log(LogLevel::kInfo, "team weighed", {{"team", call.team}, {"weight", call.weight}, {"by", caller.user}});
  draft.Do(SetWeight{.team = call.team, .weight = call.weight});
  return std::vector<std::int64_t>();
}

WeightSet AnswerOf(const WeighTeam&, const std::vector<std::int64_t>&) { return {}; }

Digest128 ContentOf(const Caller& caller, const WeighStudy& call) {
  return DigestOf(KeyText("weigh-study-1").Add(caller.user).Add(std::to_string(call.weight)).text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller&, const WeighStudy& call) {
  ESPALIER_RETURN_IF_ERROR(CheckWeight(call.weight));
  draft.Do(SetWeight{.team = {}, .study = call.study, .weight = call.weight});
  return std::vector<std::int64_t>();
}

WeightSet AnswerOf(const WeighStudy&, const std::vector<std::int64_t>&) { return {}; }

}  // namespace espalier::master
