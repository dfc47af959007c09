// What clients ask for: studies, trials, claims.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void OnCreateStudy(Draft& draft, const CreateStudyCall& call);
void OnSubmit(Draft& draft, const SubmitCall& call);
void OnCancelStudy(Draft& draft, const CancelStudyCall& call);
void OnContinueTrial(Draft& draft, const ContinueTrialCall& call);

// Whether a study could be created from this, and with which identity. Error: kInvalidArgument with the field;
// kUnavailable as long as no server that could train it is connected.
Result<Study> PlanStudy(const MasterState& state, const StudySpecification& specification);

// The same for a forecast: the device kind is left empty if no server that could train it is connected; a trainer that
// nobody has registered declares nothing and takes any hyper-parameters, if the specification says their types.
Result<Study> PlanForecast(const MasterState& state, const StudySpecification& specification);

}  // namespace espalier::master
