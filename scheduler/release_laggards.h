// Policies that release trials which lag behind the best of their study (the baselines of S. Rasley et al., HyperDrive,
// Middleware 2017, section 6.1). What is trained they start as critical path does.
//
// A trial is judged at *boundaries*: the first metric at or beyond each multiple of so many steps. It is compared with
// the best that any trial of its study had by then, on all the steps that these asked for, whoever trained them. As
// long as it shares its way with other trials that wait, but for ones that train the same, the curve is not its own:
// then nothing is released. Whoever has the best is never released.
//
// A rule may rest on what the curve is expected to come to; then that is asked, and the trial is judged once it is
// answered: by then it has trained on. Its label says what was asked.
//
// What is remembered is found again in what is stored: a study's best, which steps its trials ask for, and what is
// asked of their curves.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/study_choices.h"
#include "scheduler/curve_forecast.h"
#include "scheduler/policy.h"

namespace espalier {

// A trial that has come to a boundary.
struct Laggard {
  double best = 0;  // the best metric on its way; the worst possible where none is a number
  double last = 0;  // at the boundary; may be NaN
  double best_of_study = 0;
  Goal goal = Goal::kMaximize;
};

struct LagRule {
  std::string_view name;
  std::int64_t boundary = 1;                     // steps
  bool (*lags)(const Laggard& trial) = nullptr;  // null: who is unlikely to reach the best of the study, by the model
  CurveModel model = CurveModel::kLastValue;
};

// "bandit": its best times 1.5 does not exceed the best of the study (to be minimized: its best is 1.5 times that or
// more). Of metrics that are above 0; where the best of a study is not, nothing is released. Every 10 steps.
extern const LagRule kBandit;

// "early_term_last_value": HyperDrive's EarlyTerm: every 30 steps, whose chance to end as good as the best of the study
// was then is less than 0.05. Its forecast is the last value.
extern const LagRule kEarlyTermLastValue;

std::unique_ptr<Policy> MakeReleaseLaggards(const LagRule& rule);

}  // namespace espalier
