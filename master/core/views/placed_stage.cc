#include "master/core/views/placed_stage.h"

#include "master/core/state/visibility.h"

namespace espalier::master {

PlacedStage PlaceOf(const MasterState& state, const Run& run, Step end, const std::string& team) {
  return {.server = run.slot.server,
          .slot = run.slot.index,
          .run = IsForTeam(state, run, team) ? std::optional(run.id) : std::nullopt,
          .at = run.training() ? run.at() : end,
          .training = run.training()};
}

}  // namespace espalier::master
