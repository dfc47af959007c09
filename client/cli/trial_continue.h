// Going on from a trial: what `trial extend`, `trial branch` and `checkpoint export --train` do alike.
#pragma once

#include <vector>

#include "client/cli/command_context.h"
#include "client/client.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

// A study of trials that go on from another, at its end.
struct ContinuedTrials {
  std::int64_t study = 0;
  std::vector<v1::Trial> trials;  // in the order of the continuations
};

// Has the master make one, and waits for its end. The request id, the definition and, where it is empty, the name are
// filled in.
Result<ContinuedTrials> ContinueTrial(CommandContext& context, Client& client, v1::ContinueTrialRequest& request);

// The same, and shows the new trials. Returns the exit code: kExitRefused also if one of them did not come to a result.
int GoOnFromTrial(CommandContext& context, v1::ContinueTrialRequest request);

}  // namespace espalier
