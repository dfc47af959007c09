// What administrators ask of servers. ContentOf, Perform and AnswerOf are as calls/answer_once.h says; errors of
// Perform name the field.
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/draft.h"

namespace espalier::master {

// Drains a server: it is given no new run, and its runs are preempted, so that others go on with what they trained;
// what only evaluates ends by itself. It is so until the call comes again with `off`, whatever becomes of the master
// and of the server's node manager. Again: only the reason changes. `off` brings no run back. Administrators may call
// (the service checks that before it posts). Errors: kNotFound for a server that is neither known nor drained;
// kInvalidArgument. O(runs of the server that have not ended + its offers).
Digest128 ContentOf(const Caller& caller, const DrainServer& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const DrainServer& call);
ServerDrained AnswerOf(const DrainServer& call, const std::vector<std::int64_t>& ids);

}  // namespace espalier::master
