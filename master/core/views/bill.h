// Who used what of the servers' devices, and what sharing saved: all bills together are the time for which runs held
// slots (design section 5).
#pragma once

#include <string>
#include <vector>

#include "master/core/state/master_state.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

struct Use {
  Seconds device{0};  // held, as it was charged: of a run for several studies each has an equal part
  Seconds shared{0};  // of that, by runs of which others were charged a part, too
  // What the steps that its trials claimed, and that are done, take if each trial is trained alone, in measured time
  // of a step; less all that it was charged, loads, saves and evaluations included. At least 0.
  Seconds saved{0};
  Use& operator+=(const Use& other);
};

// O(runs under way).
Use UseOf(const MasterState& state, StudyId study, Time now);

struct TeamBill {
  std::string team;
  double weight = 1;
  double slots = 0;  // that runs hold for it now
  Use use;
};

// By team: of the caller's, and to administrators of every team that uses the service. O(users + studies + runs under
// way).
std::vector<TeamBill> BillFor(const Caller& caller, const MasterState& state, Time now);

}  // namespace espalier::master
