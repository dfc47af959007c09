// Going on from a trial: what `trial extend`, `trial branch` and `checkpoint export --train` do alike.
#pragma once

#include "client/cli/command_context.h"
#include "client/client.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

// A study of one trial that goes on from another, at its end.
struct ContinuedTrial {
  std::int64_t study = 0;
  v1::Trial trial;
};

// Has the master make one, and waits for its end. The request id, the definition and, where it is empty, the name are
// filled in.
Result<ContinuedTrial> ContinueTrial(CommandContext& context, Client& client, v1::ContinueTrialRequest& request);

// The same, and shows the new trial. Returns the exit code: kExitRefused also if the trial did not come to a result.
int GoOnFromTrial(CommandContext& context, v1::ContinueTrialRequest request);

}  // namespace espalier
