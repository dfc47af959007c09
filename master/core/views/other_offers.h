// Who trains something of that name, and why it is not the same: for a stage that nobody offers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "master/core/state/master_state.h"

namespace espalier::master {

struct OtherOffer {
  struct Difference {
    std::string what;  // "code", "data", "schema", "evaluation" or "device kind"
    std::string wanted;
    std::string offered;
    friend bool operator==(const Difference&, const Difference&) = default;
  };
  std::string server;
  std::vector<Difference> differences;  // not empty
};

// Of each connected server that offers a trainer of the plan's name, the offer most like what the plan (and, unless
// empty, the evaluation identity) asks for, if it is not just that. O(servers x offers).
std::vector<OtherOffer> OtherOffers(const MasterState& state, const SearchPlan& plan, const std::string& evaluation);

// Whether a connected server of the plan's device kind offers just what the plan asks for; and, unless empty, the
// evaluation. O(servers).
bool IsOffered(const MasterState& state, const SearchPlan& plan, const std::string& evaluation);

// Those servers, without those that are draining. O(servers).
std::set<std::string> TakingServers(const MasterState& state, const SearchPlan& plan, const std::string& evaluation);

// Those servers, if all of them are draining, so that nobody begins it; empty: some takes runs, or none offers it.
// O(servers).
std::set<std::string> DrainingOffers(const MasterState& state, const SearchPlan& plan, const std::string& evaluation);

// "gpu1 offers mlp with other code (4f2a..., not 77b1...)"; empty for none.
std::string Print(const std::vector<OtherOffer>& offers, const std::string& trainer);

}  // namespace espalier::master
