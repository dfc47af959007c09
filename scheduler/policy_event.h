// What a policy is told of, in the order in which it happened.
#pragma once

#include <variant>

#include "base/metrics.h"
#include "base/point.h"
#include "scheduler/curve_forecast.h"
#include "scheduler/ready_work.h"

namespace espalier {

// Metrics were stored at a point, of whatever evaluation. What claims they settle is settled.
struct MetricsCame {
  PlanId plan;
  Point point;
};

// A trial asks for more steps than before, its first ones or further ones; metrics may stand on the way to them.
struct TrialClaimed {
  TrialId trial;
};

// A run began.
struct RunBegan {
  RunId run;
};

// A run reports what training returned at steps of a node on its path, as far as its trainer keeps that. Steps that
// were trained before may come again.
struct Trained {
  RunId run;
  PlanNodeId node;
  MetricSeries series;  // at least one step of at least one metric
};

// A run trains no more: it is at its end, was preempted, or is lost.
struct RunStopped {
  RunId run;
};

// It can be started now, or no more; or what it amounts to is estimated otherwise.
struct WorkChanged {
  ReadyWork work;
};

// A server came or went, offers something else, or is to be drained, or no more.
struct ServersChanged {};

// None of its trials wants anything any more.
struct StudyEnded {
  StudyId study;
};

using PolicyEvent = std::variant<MetricsCame, TrialClaimed, RunBegan, Trained, RunStopped, WorkChanged, ServersChanged,
                                 StudyEnded, CurveAnalysed>;

}  // namespace espalier
