// Failures, each counted once where it happened (design section 7). A count belongs to the plan node of the step that
// failed and to the last checkpoint before that step; what it leads to is a pause, or a final failure.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Training of this run failed. Counts once a run, however often it is reported. Crashes and hangs are final at the
// third, kills at the tenth, at the earliest step that failed; until then the stage pauses for 1 s, doubling to 60 s. A
// worker that says it is unusable counts as a crash from the second time on.
// Other kinds are final at once. O(depth).
void CountFailure(Draft& draft, RunId run, const RunFailed& failed);

// An evaluation failed; bars nothing else. The trainer's own error is final at once, the others at the third.
void CountEvaluationFailure(Draft& draft, RunId run, const EvaluationFailed& failed);

// A server was lost while the run trained there. Counts nothing but the third server lost under one stage: it is held,
// with an alarm, until it is retried.
void CountLostServer(Draft& draft, RunId run);

// The run's node manager did not take its order, so nothing was tried and nothing is counted as a failure: what the run
// begins with is not ordered on that server for 1 s, doubling to 60 s with each refusal in a row, and on others first.
// Forgotten when it is begun anywhere, retried, or the node manager is started again, and with the master's memory.
void NoteRefusal(Draft& draft, RunId run, const std::string& why);
// The run was begun.
void NoteBegun(Draft& draft, RunId run);

// An evaluation succeeded: earlier attempts are forgotten.
void ForgetEvaluationAttempts(Draft& draft, const SearchPlan& plan, Point point, const std::string& evaluation);

}  // namespace espalier::master
