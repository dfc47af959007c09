// What a learning curve is expected to come to. Policies ask it of curves that have just grown; it may take seconds, so
// that it is worked beside the event loop (AnalyseCurve in scheduler/action.h). Pure: the same question is answered the
// same at any time.
#pragma once

#include <vector>

#include "base/point.h"
#include "base/study_choices.h"

namespace espalier {

enum class CurveModel {
  kLastValue,  // the curve stays where it is: no forecast at all, but the least that one could do
};

struct CurveQuestion {
  CurveModel model = CurveModel::kLastValue;
  TrialId trial;              // whose curve it is
  Point at;                   // where it was measured last
  std::vector<double> curve;  // the study's metric, the first first; NaN: diverged. Not empty
  double target = 0;          // which the metric is to reach, not NaN
  Goal goal = Goal::kMaximize;
  friend bool operator==(const CurveQuestion&, const CurveQuestion&) = default;
};

// The answer.
struct CurveAnalysed {
  TrialId trial;
  Point at;
  double target = 0;
  double chance =
      0;  // that the curve is as good as the target at its end, or better: 0 to 1; by the last value: 0 or 1
};

CurveAnalysed AnswerTo(const CurveQuestion& question);

}  // namespace espalier
