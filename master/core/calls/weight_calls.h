// Weights of the fair share (scheduler/fair_share.h). ContentOf, Perform and AnswerOf are as calls/answer_once.h says;
// errors of Perform name the field.
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/draft.h"

namespace espalier::master {

inline constexpr double kWeightMin = 0.001;
inline constexpr double kWeightMax = 1000;

// The team's weight from now on, running studies' too. Administrators may call (the service checks that before it
// posts). Errors: kNotFound for a team of which nobody is or was; kInvalidArgument. O(users).
Digest128 ContentOf(const Caller& caller, const WeighTeam& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const WeighTeam& call);
WeightSet AnswerOf(const WeighTeam& call, const std::vector<std::int64_t>& ids);

// The study's weight from now on, among those of its team. The study's user may call. REQUIRES: the study is the
// caller's own. Error: kInvalidArgument. O(log studies).
Digest128 ContentOf(const Caller& caller, const WeighStudy& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const WeighStudy& call);
WeightSet AnswerOf(const WeighStudy& call, const std::vector<std::int64_t>& ids);

}  // namespace espalier::master
