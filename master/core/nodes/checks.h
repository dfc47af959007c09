// Checks of trainers in users' own code, each once (docs/trainer_check.md): where and when they are done, and what
// follows.
#pragma once

#include <vector>

#include "master/core/draft.h"

namespace espalier::master {

// A server says what came of checks: what was not known is kept, and studies whose trainer has failed are stopped: what
// they wait for has failed. What it does not offer is passed over. REQUIRES: the server is known.
// O(said x log findings); of a failure, O(claims of its studies).
void TakeChecked(Draft& draft, const std::string& server, const std::vector<CheckedTrainer>& checked);

// Ends checks that nobody wants any more, or whose server is lost, starts again, or is drained. O(checks under way).
void EndChecks(Draft& draft);

// Gives idle slots to checks that may not wait: a study waits for them (CheckWhen::kFirst); or some claim of a study
// was done, and the check is expected to be short: it goes before training that waits. O(checks that are wanted).
void PlaceUrgentChecks(Draft& draft);

// Gives the others slots that are idle although all is given out that can be trained.
void PlaceOtherChecks(Draft& draft);

// Those that the server should do, in the node protocol's words. O(checks under way).
std::vector<WantedCheck> ChecksOn(const MasterState& state, const Server& server);

}  // namespace espalier::master
