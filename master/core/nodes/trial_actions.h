// What policies order of trials, checked and carried out.
#pragma once

#include "master/core/draft.h"
#include "scheduler/action.h"

namespace espalier::master {

// Each says whether it could be done; if not, nothing has changed.

// Withdraws what the trial waits for, and closes it, as if its tuner had cancelled it. Not of a trial that waits for
// nothing, or whose study does not let policies stop its trials. O(claims of the trial x depth).
bool Release(Draft& draft, const ReleaseTrial& release);

// Asks for the metric at the step for the trial, unless it has asked for that. Not of a trial that waits for nothing
// behind the step, or whose study does not let policies stop its trials. O(claims of the trial + depth log).
bool ClaimOf(Draft& draft, const ClaimStep& claim);

// In the name of the policy that decides. Not of a trial of a finished study, or without text.
bool Label(Draft& draft, const LabelTrial& label);

// Not of a curve that is being analysed, without a metric, or against a target that is no number. O(log).
bool Analyse(Draft& draft, const AnalyseCurve& analyse);

// Tells the policy, if it was asked. O(log).
void OnCurveAnalysed(Draft& draft, const CurveAnalysed& analysed);

}  // namespace espalier::master
