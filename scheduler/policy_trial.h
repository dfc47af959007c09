// Trials, and what was measured on their ways, as a policy sees them.
#pragma once

#include "base/point.h"
#include "base/policy_choices.h"
#include "base/study_choices.h"

namespace espalier {

struct PolicyTrial {
  TrialId id;
  StudyId study;
  PlanId plan;
  PlanNodeId leaf;  // trials of one leaf train the same, as far as each goes
  Point furthest;   // that it asks for
};

struct PolicyStudy {
  StudyId id;
  Goal goal = Goal::kMaximize;
  Time created_at{};
  double weight = 1;                // among studies
  std::int64_t evaluate_every = 0;  // steps; 0: only where claims ask
  PolicyChoices choices;
};

// A study's metric at a point.
struct MeasuredAt {
  Point point;
  double value = 0;  // NaN: training diverged, or that is what the evaluation returned
};

}  // namespace espalier
