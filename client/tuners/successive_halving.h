// SHA, successive halving (Jamieson & Talwalkar 2016): all trials to the first rung; when the rung is settled, the best
// max(1, floor(n / reduction)) go on to the next. Ties: earlier submitted trial first. Failed and cancelled trials
// count in n and rank last; none of them goes on.
#pragma once

#include <memory>

#include "client/tuners/halving_bracket.h"
#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: min and max (the first and the last rung), reduction. A candidate's own horizon ends it early: it is claimed
// there instead of at a later rung, and compared with what it reached.
TunerKind SuccessiveHalvingKind();

// The bracket alone, and the study's end with it.
std::unique_ptr<Tuner> MakeOneBracket(HalvingBracket bracket);

}  // namespace espalier::tuners
