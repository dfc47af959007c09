#include "client/cli/training_metrics.h"

#include <ostream>
#include <set>
#include <vector>

#include "client/cli/output.h"

namespace espalier {
namespace {

constexpr std::size_t kRowsMax = 20;

// At most kRowsMax of them, the first and the last among them.
std::vector<Step> Spread(const std::set<Step>& steps) {
  std::vector<Step> all(steps.begin(), steps.end());
  if (all.size() <= kRowsMax) return all;
  std::vector<Step> some;
  for (std::size_t row = 0; row < kRowsMax; ++row) some.push_back(all[row * (all.size() - 1) / (kRowsMax - 1)]);
  return some;
}

}  // namespace

Json ToJson(const TrainingCurves& metrics) {
  Json document = Json::Object();
  for (const auto& [name, by_step] : metrics) {
    Json steps = Json::Array();
    Json values = Json::Array();
    for (const auto& [step, value] : by_step) {
      steps.Append(step.value);
      values.Append(value);
    }
    document.Add(name, Json::Object({{"steps", std::move(steps)}, {"values", std::move(values)}}));
  }
  return document;
}

void PrintTrainingMetrics(std::ostream& out, const TrainingCurves& metrics) {
  if (metrics.empty()) return;
  std::vector<std::string> head{"step"};
  std::set<Step> steps;
  for (const auto& [name, by_step] : metrics) {
    head.push_back(name);
    for (const auto& [step, value] : by_step) steps.insert(step);
  }
  const std::vector<Step> shown = Spread(steps);
  out << "\nas it was trained";
  if (shown.size() < steps.size()) {
    out << " (" << shown.size() << " of " << FormatCount(static_cast<std::int64_t>(steps.size()))
        << " steps; all: --output json)";
  }
  out << '\n';
  Table table(head);
  for (const Step step : shown) {
    std::vector<std::string> row{FormatCount(step.value)};
    for (const auto& [name, by_step] : metrics) {
      const auto value = by_step.find(step);
      row.push_back(value == by_step.end() ? "-" : FormatNumber(value->second));
    }
    table.AddRow(row);
  }
  table.Print(out);
}

}  // namespace espalier
