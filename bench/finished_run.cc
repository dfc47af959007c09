#include "bench/finished_run.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "protocol/store_name.h"

namespace espalier::bench {
namespace {

constexpr Seconds kTook{0.001};

}  // namespace

PassedPoint PointAt(const Order& order, Step step) {
  const auto at = std::ranges::find_if(order.path, [&](const OrderedStage& each) { return step <= each.stage.to; });
  return {{at->stage.node, step}, at->lineage};
}

MetricsMeasured MeasuredAt(const Order& order, Step step, double value) {
  const auto [point, lineage] = PointAt(order, step);
  Metrics metrics;
  for (const std::string& name : order.offer.metrics) metrics[name] = value;
  return {order.plan, point, lineage, order.offer.evaluation_digest, std::move(metrics), kTook};
}

StateStored StoredAt(const Order& order, Step step) {
  const auto [point, lineage] = PointAt(order, step);
  const std::string file = StoreName(order.plan, point, order.run);
  return {order.plan, point, lineage, file, 1000, std::string(64, 'a'), kTook};
}

FinishedRun Finish(const Order& order, double value) {
  FinishedRun run;
  const Step end = order.terms.promises.back().step;
  RunEnded ended{.step = end, .slot_time = kTook};
  for (const OrderedPromise& promise : order.terms.promises) {
    if (promise.owed == Owed::kMetrics) {
      run.measured.emplace_back(MeasuredAt(order, promise.step, value));
    } else {
      run.stored.emplace_back(StoredAt(order, promise.step));
      ended.saves_under_way.push_back(promise.step);
    }
  }
  for (const auto& [stage, configuration, lineage] : order.path) {
    if (stage.from >= end) break;
    run.ended.emplace_back(StepsTrained{stage.node, stage.from, std::min(stage.to, end), kTook});
  }
  run.ended.emplace_back(std::move(ended));
  return run;
}

std::vector<ReportKind> Joined(FinishedRun run) {
  std::vector<ReportKind> reports = std::move(run.measured);
  std::ranges::move(run.ended, std::back_inserter(reports));
  std::ranges::move(run.stored, std::back_inserter(reports));
  return reports;
}

}  // namespace espalier::bench
