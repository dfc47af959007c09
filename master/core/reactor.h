// The master's decisions: what happens to its state when something happens. Pure: no I/O, clock, thread, log or
// randomness.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/core/state/state_edit.h"
#include "scheduler/policy.h"

namespace espalier::master {

struct ReactorSettings {
  Seconds lease{10};
  // How long a slot trains between two failures that lose what was not saved, on average, as far as anybody knows.
  Seconds between_failures{std::chrono::hours{24}};
  std::int64_t checkpoint_bytes = 0;  // the checkpoints' budget; 0: none
  // Runs save as they pass every so many steps of a lineage, instead of where it pays; 0: where it pays.
  std::int64_t save_every_steps = 0;
  // How long after it is finished a study is retired; none: never.
  std::optional<Seconds> retire_after = std::nullopt;
  std::vector<User> first_users;  // whose tokens are kept as they are here
};

struct Transition {
  StateEdit edit;
  std::vector<Effect> effects;
};

// Applies the edit that it returns to `state`, change by change: a batch's later trials meet the nodes of its earlier
// ones. An event that is refused changes nothing.
Transition React(MasterState& state, const Event& event, Policy& policy, const ReactorSettings& settings, Time now);

}  // namespace espalier::master
