// What the fake master's InspectService shows of a study.
#pragma once

#include "espalier/v1/checkpoint.pb.h"
#include "espalier/v1/inspect.pb.h"
#include "tests/support/fake_study.h"

namespace espalier::testing {

v1::StudySummary Summarize(const FakeStudy& study);
v1::StudyListing ListingOf(const FakeStudy& study);
v1::Trial ViewOf(const FakeStudy& study, const FakeTrial& trial);

// Pages as the real master gives them, though of at most two; the token is a number.
v1::ListStudiesResponse ListStudies(const std::vector<FakeStudy>& studies, const v1::ListStudiesRequest& request);
v1::ListTrialsResponse ListTrials(const FakeStudy& study, const v1::ListTrialsRequest& request);

// Of any trial: the loss of three steps, then of the last of them and the next, with its accuracy; then no more.
v1::GetTrainingMetricsResponse TrainingMetricsBehind(std::int64_t after);

// One where each evaluation is, "TRIAL@STEP".
v1::ListCheckpointsResponse CheckpointsOf(const FakeTrial& trial);

// Each trial is a root of its own.
v1::GetPlanResponse PlanOf(const FakeStudy& study);

// Nothing shared, nothing trained; times and sizes are known unless a study's trainer is "synthetic".
v1::ForecastResponse ForecastOf(const v1::ForecastRequest& request);

}  // namespace espalier::testing
