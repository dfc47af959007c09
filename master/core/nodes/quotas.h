// Stops those who have come to a limit of what is used while training: stored bytes, or device time in a day.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Stops teams and users that have come to such a limit, lets those go on that are below it again, and preempts the runs
// that serve none but those who are stopped. What others want as well goes on, and costs everybody a part. A day's
// device time is free again at midnight (UTC). O(limited teams and users), and where there are limits of device time,
// or somebody is stopped, O(runs under way x studies that they serve).
void KeepQuotas(Draft& draft);

}  // namespace espalier::master
