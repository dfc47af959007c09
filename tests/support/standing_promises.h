// Which states runs had promised at a moment in the past, whatever became of the promises afterwards.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "master/core/state/master_state.h"

namespace espalier::master {

struct StandingPromise {
  Step step;
  RunId run;
  Time from{};
  std::optional<Time> until;  // the last moment at which it stood; none: it still does

  bool StoodAt(Time time) const { return from <= time && (!until || time <= *until); }
};

class StandingPromises {
 public:
  // Of all runs of these plans.
  StandingPromises(const MasterState& state, const std::set<PlanId>& plans);

  // In order of run.
  const std::vector<StandingPromise>& On(PlanNodeId node) const;

 private:
  void AddRun(const Run& run);

  std::map<PlanNodeId, std::vector<StandingPromise>> promises_;
};

}  // namespace espalier::master
