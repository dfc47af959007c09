// What teams and users use of the service, and may use.
#pragma once

#include <string>
#include <vector>

#include "master/core/state/master_state.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

struct PartyQuota {
  std::string team;
  std::string user;  // empty: the team, with all of its users
  Quota quota;
  std::int64_t open_trials = 0;
  Usage usage;
  Seconds device_time{0};  // of today (UTC), until now
  std::string stopped;     // why; empty: it is not
};

// Of the caller's team and its users, and to administrators of all; each team before its users, by name. Of those who
// are no users any more, such as have used something. O(users x (log + running studies) + runs under way).
std::vector<PartyQuota> QuotasFor(const Caller& caller, const MasterState& state, Time now);

}  // namespace espalier::master
