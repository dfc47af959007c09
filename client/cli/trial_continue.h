// Going on from a trial: what `trial extend` and `trial branch` do alike.
#pragma once

#include "client/cli/command_context.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

// Has the master make a study of trials that go on from another, waits for its end, and shows them. The request id, the
// definition and, where it is empty, the name are filled in. Returns the exit code: kExitRefused also if one of them
// did not come to a result.
int GoOnFromTrial(CommandContext& context, v1::ContinueTrialRequest request);

}  // namespace espalier
