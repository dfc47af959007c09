// Limits of what teams and users may use (state/quota.h). ContentOf, Perform and AnswerOf are as calls/answer_once.h
// says; errors of Perform name the field.
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/draft.h"

namespace espalier::master {

// The party's limits from now on; whoever is beyond one that stops is stopped at once, and loses nothing.
// Administrators may call (the service checks that before it posts). Errors: kNotFound for a team of which nobody is or
// was, or no such user; kInvalidArgument. O(users), and where stored bytes are limited first, O(checkpoints).
Digest128 ContentOf(const Caller& caller, const LimitParty& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const LimitParty& call);
QuotaSet AnswerOf(const LimitParty& call, const std::vector<std::int64_t>& ids);

}  // namespace espalier::master
