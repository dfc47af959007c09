// What administrators ask of servers and of what is trained on them. ContentOf, Perform and AnswerOf are as
// calls/answer_once.h says; errors of Perform name the field.
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

// From the next event on that policy decides, whatever becomes of the master; what runs goes on. Chosen again: nothing
// changes. Administrators may call, as above. Error: kInvalidArgument for one that there is not. O(1); the next event
// puts all that waits in the policy's order: O(plan nodes + waiting claims).
Digest128 ContentOf(const Caller& caller, const ChoosePolicy& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const ChoosePolicy& call);
PolicyChosen AnswerOf(const ChoosePolicy& call, const std::vector<std::int64_t>& ids);

}  // namespace espalier::master
