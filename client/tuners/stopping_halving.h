// ASHA by stopping: the variant of asynchronous successive halving (Li et al. 2020) in which a trial goes on from a
// rung unless it is worse than those that were there before it, as Determined and Optuna have it.
#pragma once

#include "client/tuners/ladder.h"

namespace espalier::tuners {

// At a rung that n trials have reached, the newest included, it goes on if fewer than max(1, floor(n / reduction)) of
// them are strictly better; else it is cancelled. Failed and cancelled trials count in n, and rank behind NaN, which
// ranks behind every number. The last rung, and a candidate's own horizon, end a trial.
std::unique_ptr<Tuner> MakeStoppingHalving(const Ladder& ladder, std::optional<std::size_t> open_trials);

}  // namespace espalier::tuners
