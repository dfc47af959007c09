// What servers have made of trainers in users' own code.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

// Neither offers nor refused: the server still looks at the reference.
struct TrainerOnServer {
  std::string server;
  std::vector<const Offer*> offers;
  std::string refused;
};

struct TrainerStanding {
  bool wanted = false;                   // somebody asks for it, or a study runs by it
  std::vector<TrainerOnServer> servers;  // connected ones that are not being stopped, by name
};

// Of a reference of the caller's team. Error: kNotFound. O(servers x offers by the reference).
Result<TrainerStanding> StandingOf(const MasterState& state, Digest128 reference, const Caller& caller);

// Why servers do not run the code of running studies that wait in the plan and that the caller may see: one line,
// "gpu1 does not run train.py:Digits: ..."; empty if none does. O(running studies + servers).
std::string RefusalsOf(const MasterState& state, PlanId plan, const Caller& caller);

// The references that servers are to offer. O(references asked for, and of running studies).
std::vector<WantedReference> WantedReferences(const MasterState& state);

}  // namespace espalier::master
