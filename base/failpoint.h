// Fail-points: named places at which a test kills the process, as kill -9 would. They exist only in builds with
// ESPALIER_FAILPOINTS; elsewhere ESPALIER_FAILPOINT(name) is nothing.
//   ESPALIER_FAILPOINT("commit.before");
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

// Arms fail-points from text, "commit.before=3,commit.after=1": the process kills itself (SIGKILL) when the named place
// is passed for the n-th time. Called by main with the value of the environment's ESPALIER_FAILPOINTS. When `marker` is
// not empty, that file is created first, and a point whose marker exists does not kill again: a restarted process
// lives. Error: kInvalidArgument when the text is malformed, or when this build has no fail-points.
Result<void> ArmFailpoints(std::string_view text, std::string marker);

void PassFailpoint(std::string_view name);

}  // namespace espalier

#ifdef ESPALIER_FAILPOINTS
#define ESPALIER_FAILPOINT(name) ::espalier::PassFailpoint(name)
#else
#define ESPALIER_FAILPOINT(name) static_cast<void>(0)
#endif
