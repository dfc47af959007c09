#include "scheduler/curve_forecast.h"

namespace espalier {
namespace {

double ChanceToReachTarget(const CurveQuestion& question) {
  switch (question.model) {
    case CurveModel::kLastValue: {
      const double last = question.curve.back();
      return (question.goal == Goal::kMaximize ? last >= question.target : last <= question.target) ? 1 : 0;
    }
  }
  return 0;
}

}  // namespace

CurveAnalysed AnswerTo(const CurveQuestion& question) {
  return {
      .trial = question.trial, .at = question.at, .target = question.target, .chance = ChanceToReachTarget(question)};
}

}  // namespace espalier
