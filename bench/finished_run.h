// What a node manager reports of runs that cost nothing, made from their orders alone: of points where they pass.
#pragma once

#include <vector>

#include "protocol/order.h"
#include "protocol/report.h"

namespace espalier::bench {

// The point of the order's path at `step`, and the lineage there. REQUIRES: the path has it.
struct PassedPoint {
  Point point;
  Digest128 lineage;
};
PassedPoint PointAt(const Order& order, Step step);

// Every metric of the order's offer has the value.
MetricsMeasured MeasuredAt(const Order& order, Step step, double value);
StateStored StoredAt(const Order& order, Step step);

// All of a run that keeps its promises and ends, in the order in which it is reported.
struct FinishedRun {
  std::vector<ReportKind> measured;
  std::vector<ReportKind> ended;  // its steps, and that its slot is free
  std::vector<ReportKind> stored;
};

// REQUIRES: the order has a path and promises.
FinishedRun Finish(const Order& order, double value);

std::vector<ReportKind> Joined(FinishedRun run);

}  // namespace espalier::bench
