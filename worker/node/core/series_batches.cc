#include "worker/node/core/series_batches.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "protocol/training_metrics.h"

namespace espalier::node {
namespace {

constexpr Seconds kGatheredFor{1};

bool GoesOn(const TrainingMetrics& batch, Point point, const std::vector<std::string>& names) {
  const std::vector<Step>& steps = batch.series.steps;
  return batch.node == point.node && batch.series.names == names && steps.back() < point.step &&
         steps.size() < kBatchStepsMax;
}

}  // namespace

void SeriesBatches::Add(PlanId plan, Point point, const Digest128& lineage, const Metrics& metrics, Seconds now) {
  if (metrics.empty() || !IsInSeries(point.step)) return;
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics) {
    if (names.size() < kTrainingMetricsMax) names.push_back(name);
  }
  if (batches_.empty()) since_ = now;
  if (batches_.empty() || !GoesOn(batches_.back(), point, names)) {
    batches_.push_back({plan, point.node, lineage, {.names = names, .steps = {}, .values = {}}});
  }
  MetricSeries& series = batches_.back().series;
  series.steps.push_back(point.step);
  for (const std::string& name : names) series.values.push_back(metrics.at(name));
}

void SeriesBatches::Report(Seconds now, std::vector<ReportKind>& reports) {
  if (now - since_ >= kGatheredFor) ReportAll(reports);
}

void SeriesBatches::ReportAll(std::vector<ReportKind>& reports) {
  std::move(batches_.begin(), batches_.end(), std::back_inserter(reports));
  batches_.clear();
}

}  // namespace espalier::node
