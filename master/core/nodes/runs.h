// What happens to runs, whoever says so: promises are kept and lost, training stops, device time is charged.
// All changes go through the draft.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Settles an open promise; a run that is saving and has no other ends. O(promises of the run).
void SettlePromiseOf(Draft& draft, RunId run, PromiseId promise, PromiseState state);

// Promises what is not promised yet. REQUIRES: the run has not ended.
void MakePromiseOf(Draft& draft, RunId run, PromisedAt what);

// Charges the run's device time up to now, in equal parts to the studies that it serves (the remainder to the oldest),
// and lets it serve `studies` from now on; without any it goes on with the last ones. Of a run that holds several
// slots, each is charged. `held`: how long it held them in all, if its node manager has said so, which then counts
// instead of the master's clock.
void Charge(Draft& draft, RunId run, std::vector<StudyId> studies, std::optional<Seconds> held = std::nullopt);

// The slot is free: the run is charged. Promises of metrics, and those of states whose steps are not among
// `saves_under_way`, are lost; states under way that nobody had asked for become promises. It ends when no promise is
// open. REQUIRES: it trains.
void StopTraining(Draft& draft, RunId run, const std::vector<Step>& saves_under_way, std::optional<Seconds> held);

// Of a run that trains no more: loses its open promises but those of states at these steps; it ends when none is open.
void LoseAllBut(Draft& draft, RunId run, const std::vector<Step>& saves_under_way);

// After the state was loaded: where runs stand is not stored, but what they have done is, and what is promised there is
// as good as under way. O(runs under way x (stages + runs on their nodes)).
void RecallPositions(Draft& draft);

// Whether it may be: it trains, and is not being preempted; it does not begin where another lost the state for which it
// was preempted, or some run has stored one since.
bool CanPreempt(const MasterState& state, const Run& run);

// It saves at its next step's end and ends there, as soon as its node manager has heard; until then it takes no new
// promise. REQUIRES: it trains, along a path.
void Preempt(Draft& draft, RunId run);

// Ends a run of which nothing more will come: its open promises are lost.
void LoseRun(Draft& draft, RunId run);

}  // namespace espalier::master
