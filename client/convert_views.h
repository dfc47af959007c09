// The wire's views as the client's.
#pragma once

#include "client/branch.h"
#include "client/views.h"
#include "espalier/v1/checkpoint.pb.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

StudyEntry ToView(const v1::StudyListing& study);
StudyView ToView(const v1::StudySummary& study);
TrialView ToView(const v1::Trial& trial);
TrialView ToView(const v1::GetTrialResponse& trial);
CheckpointView ToView(const v1::ListedCheckpoint& checkpoint);
ForecastView ToView(const v1::ForecastResponse& forecast);

v1::Continuation ToWire(const TrialBranch& branch);

}  // namespace espalier
