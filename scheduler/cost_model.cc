#include "scheduler/cost_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/ridge_regression.h"

namespace espalier {
namespace {

// Below any clock's resolution; keeps times positive.
constexpr Seconds kStepTimeMin{1e-9};

// Small enough to change no estimate that the measurements determine.
constexpr double kRidge = 1e-6;

struct Measurement {
  std::int64_t steps = 0;
  Seconds seconds{0};
};

Measurement MeasurementOf(const PlanNode& node) {
  Measurement sum;
  for (const TrainedRange& range : node.trained) {
    sum.steps += range.to - range.from;
    sum.seconds += range.seconds;
  }
  return sum;
}

std::vector<Value> ValuesAtStart(const PlanNode& node) {
  std::vector<Value> values;
  for (const Function& function : node.configuration.Unpack().functions) values.push_back(At(function, node.start));
  return values;
}

struct NumberOf {
  double operator()(bool value) const { return value ? 1 : 0; }
  double operator()(std::int64_t value) const { return static_cast<double>(value); }
  double operator()(double value) const { return value; }
  double operator()(const std::string&) const { return 0; }
};

}  // namespace

CostModel CostModel::FromPlan(const SearchPlan& plan) {
  CostModel model;
  std::vector<std::pair<const PlanNode*, Measurement>> measurements;
  std::set<std::pair<std::size_t, std::optional<std::string>>> features;
  for (const auto& [id, node] : plan.nodes) {
    const Measurement measurement = MeasurementOf(node);
    if (measurement.steps <= 0) continue;
    measurements.emplace_back(&node, measurement);
    const Seconds step_time = std::max(kStepTimeMin, measurement.seconds / static_cast<double>(measurement.steps));
    model.least_ = model.measured_.empty() ? step_time : std::min(model.least_, step_time);
    model.measured_[id] = step_time;
    const std::vector<Value> values = ValuesAtStart(node);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto* text = std::get_if<std::string>(&values[i]);
      features.emplace(i, text != nullptr ? std::optional(*text) : std::nullopt);
    }
  }
  for (const auto& [hyper_parameter, text] : features) model.features_.push_back({hyper_parameter, text});
  std::vector<Observation> observations;
  for (const auto& [node, measurement] : measurements) {
    observations.push_back(
        {model.Row(*node), model.measured_.at(node->id).count(), static_cast<double>(measurement.steps)});
  }
  if (!observations.empty()) model.weights_ = FitRidge(observations, kRidge);
  return model;
}

Seconds CostModel::StepTime(const PlanNode& node) const {
  if (const auto measured = measured_.find(node.id); measured != measured_.end()) return measured->second;
  if (weights_.empty()) return Seconds{1};
  return std::max({Seconds{Predict(weights_, Row(node))}, least_ / 100, kStepTimeMin});
}

std::vector<double> CostModel::Row(const PlanNode& node) const {
  std::vector<double> row;
  const std::vector<Value> values = ValuesAtStart(node);
  for (const Feature& feature : features_) {
    const Value& value = values.at(feature.hyper_parameter);
    if (feature.text) {
      row.push_back(value == Value{*feature.text} ? 1 : 0);
    } else {
      row.push_back(std::visit(NumberOf{}, value));
    }
  }
  return row;
}

std::vector<Seconds> StageTimes(const CostModel& cost, const SearchPlan& plan, const StageTree& tree) {
  std::vector<Seconds> times;
  times.reserve(tree.stages.size());
  for (const Stage& stage : tree.stages) {
    times.push_back(cost.StepTime(plan.Node(stage.node)) * static_cast<double>(stage.to - stage.from));
  }
  return times;
}

}  // namespace espalier
