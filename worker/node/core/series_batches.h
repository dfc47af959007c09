// The training metrics of one run on their way to the master: gathered for about a second, so that a run of tiny steps
// is no flood of reports.
#pragma once

#include <optional>
#include <vector>

#include "protocol/report.h"

namespace espalier::node {

class SeriesBatches {
 public:
  // What training to `point` returned, if its step is kept. Steps may be trained again.
  void Add(PlanId plan, Point point, const Digest128& lineage, const Metrics& metrics, Seconds now);

  // Reports what was gathered, if that is due.
  void Report(Seconds now, std::vector<ReportKind>& reports);
  void ReportAll(std::vector<ReportKind>& reports);

 private:
  std::vector<TrainingMetrics> batches_;  // each of one plan node and one set of names
  Seconds since_{0};                      // the first step of them was trained
};

}  // namespace espalier::node
