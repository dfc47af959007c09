// Where a run trains, measures or stores a stage, as far as a team may know.
#pragma once

#include <optional>
#include <string>

#include "master/core/state/master_state.h"

namespace espalier::master {

struct PlacedStage {
  std::string server;
  int slot = 0;
  std::optional<RunId> run;  // of the team's own
  Step at;                   // the last step known to be begun or reached
  bool training = true;      // false: the slot is free, the state is on its way to the store
  friend bool operator==(const PlacedStage&, const PlacedStage&) = default;
};

// `end`: where the stage ends. O(studies that the run serves).
PlacedStage PlaceOf(const MasterState& state, const Run& run, Step end, const std::string& team);

}  // namespace espalier::master
