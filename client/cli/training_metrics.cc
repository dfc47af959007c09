#include "client/cli/training_metrics.h"

#include <ostream>
#include <set>
#include <vector>

#include "client/cli/output.h"

namespace espalier {
namespace {

constexpr std::size_t kRowsMax = 20;

// At most kRowsMax of them, the first and the last among them.
std::vector<std::int64_t> Spread(const std::set<std::int64_t>& steps) {
  const std::vector<std::int64_t> all(steps.begin(), steps.end());
  if (all.size() <= kRowsMax) return all;
  std::vector<std::int64_t> some;
  for (std::size_t row = 0; row < kRowsMax; ++row) some.push_back(all[row * (all.size() - 1) / (kRowsMax - 1)]);
  return some;
}

}  // namespace

Result<TrainingMetricsByName> ReadTrainingMetrics(Connection& connection, std::int64_t trial) {
  TrainingMetricsByName metrics;
  v1::GetTrainingMetricsRequest request;
  request.set_trial_id(trial);
  while (true) {
    ESPALIER_ASSIGN(const v1::GetTrainingMetricsResponse response, connection.GetTrainingMetrics(request));
    for (const v1::MetricSeries& series : response.series()) {
      std::map<std::int64_t, double>& known = metrics[series.name()];
      for (int at = 0; at < std::min(series.steps_size(), series.values_size()); ++at) {
        known.emplace(series.steps(at), series.values(at));
      }
    }
    if (response.series().empty()) return metrics;
    request.set_after(response.next());
  }
}

Json ToJson(const TrainingMetricsByName& metrics) {
  Json document = Json::Object();
  for (const auto& [name, by_step] : metrics) {
    Json steps = Json::Array();
    Json values = Json::Array();
    for (const auto& [step, value] : by_step) {
      steps.Append(step);
      values.Append(value);
    }
    document.Add(name, Json::Object({{"steps", std::move(steps)}, {"values", std::move(values)}}));
  }
  return document;
}

void PrintTrainingMetrics(std::ostream& out, const TrainingMetricsByName& metrics) {
  if (metrics.empty()) return;
  std::vector<std::string> head{"step"};
  std::set<std::int64_t> steps;
  for (const auto& [name, by_step] : metrics) {
    head.push_back(name);
    for (const auto& [step, value] : by_step) steps.insert(step);
  }
  const std::vector<std::int64_t> shown = Spread(steps);
  out << "\nas it was trained";
  if (shown.size() < steps.size()) {
    out << " (" << shown.size() << " of " << FormatCount(static_cast<std::int64_t>(steps.size()))
        << " steps; all: --output json)";
  }
  out << '\n';
  Table table(head);
  for (const std::int64_t step : shown) {
    std::vector<std::string> row{FormatCount(step)};
    for (const auto& [name, by_step] : metrics) {
      const auto value = by_step.find(step);
      row.push_back(value == by_step.end() ? "-" : FormatNumber(value->second));
    }
    table.AddRow(row);
  }
  table.Print(out);
}

}  // namespace espalier
