// The policy that goes for the best metric that a study can have by its deadline (R. Liaw et al., HyperSched, SoCC
// 2019, algorithm 3): `hypersched`. It is about studies with a deadline that has not passed (PolicyChoices); of others
// it starts, as critical path does, what finds a slot that these do not want.
//
// - The trials of such a study are compared at rungs (rungs.h): at `min_steps`, else where they are first evaluated,
// and
//   at four times as many steps as at the rung before. One that is not among the best quarter of some rung any more is
//   *held*: its claims stay, but nothing is trained for it alone.
// - As long as the study has slots left, the best held one that is among the best of its rung goes on, else the next
//   submitted one begins, with one slot; none does that can come to nothing any more (deadline_rules.h).
// - A run that reports gets as many slots of a device as its trial's rank among those that train says, if what it does
//   until the deadline is more for it: it is preempted at its step's end, and goes on from there. It has to be worth it
//   by the study's `speeds`; without, no run grows. Not before it has trained for two changes, and one step.
// - At the deadline all trials are released, if the study lets policies do that; else the study goes on like one
//   without. What the last reports before it measure is stored, too, so that the best has a state.
// - Several studies with a deadline have parts of the slots by their weights; the earliest deadline is served first.
//
// Equal scores, as on shared ways: all go on. What trains for one trial measures what others share, for nothing.
// What has become of a trial stands on it as a label; the rest is found in what is stored.
#pragma once

#include <memory>

#include "scheduler/policy.h"

namespace espalier {

std::unique_ptr<Policy> MakeMeetDeadlines();

}  // namespace espalier
