// How a stage stands, and why: for the person who wonders what the service waits for. Decides nothing: it reads what
// the decisions go by (the index of needs, pauses, offers, runs under way), and walks neither all trials nor all runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"
#include "master/core/state/visibility.h"
#include "master/core/views/node_costs.h"
#include "master/core/views/other_offers.h"
#include "master/core/views/placed_stage.h"

namespace espalier::master {

enum class StageStanding {
  kDone,     // trained: a checkpoint stands there, or stood; or it diverged or was finished, which are results
  kRunning,  // a run trains, measures or stores it
  kWaiting,
  kFailed,
  kPlanned,  // on a trial's lineage, and no claim waits for it
};
std::string_view Name(StageStanding standing);

// What a stage that waits would need to go on.
enum class WaitsFor {
  kNothing,
  kStage,  // an earlier one
  kSlot,
  kPause,  // to be over
  kRetry,  // held, until `stage retry`
  kCheck,  // of its trainer, before anything is trained
  kQuota,  // to be raised, or not to be reached any more
  kOffer,  // a server that offers just what it needs
};

struct ExplainedStage {
  Point point;
  StageStanding standing = StageStanding::kPlanned;
  std::string why;  // one sentence or more; of a failure with its traceback
  WaitsFor waits_for = WaitsFor::kNothing;
  std::optional<Point> waits_for_stage;
  std::optional<Time> paused_until;
  std::optional<std::int64_t> paths_ahead;  // of its trainer, when it waits for a slot; counted to 1,000
  std::vector<OtherOffer> other_offers;     // when nobody offers it

  // Trials whose claims wait for it, or that it fails: those that the caller may see; the rest only counted.
  std::vector<TrialId> serves;
  std::int64_t serves_others = 0;
  bool serves_more = false;  // there are more than were counted

  std::optional<PlacedStage> placed_on;
  std::optional<Checkpoint> checkpoint;
  NodeCosts costs;  // of its plan node
  std::vector<std::string> warnings;
};

// Of the stage that reaches or passes the point. Whoever may know of the plan may ask, and where everyone shares, whose
// team has a claim there (FindStage). Error: kNotFound ("stage"). O(plans log nodes + depth + servers x offers + runs
// that pass the node + failed claims of the plan x depth, where something failed), at most 10,000 places below it and
// 1,000 paths ahead of it.
Result<ExplainedStage> ExplainStage(const MasterState& state, Point point, const Caller& caller, Time now);

// Of a run that serves, or served, a study that the caller may see: the stage that it trains now, or trained last.
// Error: kNotFound ("run"). Costs as above, and O(promises of the run).
Result<ExplainedStage> ExplainRun(const MasterState& state, RunId run, const Caller& caller, Time now);

}  // namespace espalier::master
