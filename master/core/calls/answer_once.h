// The one way in which clients' calls are answered: each request once. The same request id with the same content gets
// the first answer again, for as long as the database keeps it, and changes nothing. Every kind of call has a handler
// (calls/study_calls.h, user_calls.h, server_calls.h, code_calls.h) of three functions, found by the call's type: a new
// kind of call without them does not build. A call that names a study (`study`) is its user's alone, and its request
// ids count within it; the ids of other calls count within their user.
//   ContentOf  what makes two requests the same, digested. Stored with the answer: never to be changed.
//   Perform    carries the call out, and gives back the ids that it produced. Changes nothing if it returns an error.
//   AnswerOf   the answer that these ids mean, the first time and whenever the request comes again.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Emits exactly one Reply. Errors, before those of the call's handler: kInvalidArgument ("request_id"); kNotFound and
// kFailedPrecondition for a call that changes a study which is not the caller's; kAlreadyExists when the request came
// before with other content. A request that is refused is not stored: it may be mended and come again. Costs what the
// handler says, and O(content) for its digest.
void AnswerOnce(Draft& draft, const ClientCall& call);

}  // namespace espalier::master
