#include "scheduler/cost_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/ridge_regression.h"

namespace espalier {
namespace {

// Below any clock's resolution; keeps times positive.
constexpr Seconds kStepTimeMin{1e-9};

// Small enough to change no estimate that the measurements determine.
constexpr double kRidge = 1e-6;

// The regression takes time in the cube of its columns, at every decision.
constexpr std::size_t kFeatureCountMax = 48;

struct StepsMeasured {
  std::int64_t steps = 0;
  Seconds seconds{0};
};

StepsMeasured StepsMeasuredOf(const PlanNode& node) {
  StepsMeasured sum;
  for (const TrainedRange& range : node.results->trained) {
    sum.steps += range.to - range.from;
    sum.seconds += range.seconds;
  }
  return sum;
}

// Nothing for an undeclared hyper-parameter that is neutral there.
std::optional<Value> ValueAt(const Configuration& configuration, Step start, const CostModel::Subject& subject) {
  if (subject.undeclared.empty()) return At(configuration.functions.at(subject.index), start);
  const Function* function = configuration.FindUndeclared(subject.undeclared);
  if (function == nullptr) return std::nullopt;
  return At(*function, start);
}

std::vector<CostModel::Subject> SubjectsOf(const Configuration& configuration) {
  std::vector<CostModel::Subject> subjects;
  for (std::size_t i = 0; i < configuration.DeclaredCount(); ++i) subjects.push_back({.index = i});
  for (const std::string& name : configuration.undeclared) subjects.push_back({.undeclared = name});
  return subjects;
}

// What the measured nodes have under one feature.
struct Column {
  void Add(const Value& value) {
    if (count++ == 0) first = value;
    differs = differs || value != first;
  }
  std::size_t count = 0;
  Value first;
  bool differs = false;
};

struct NumberOf {
  double operator()(bool value) const { return value ? 1 : 0; }
  double operator()(std::int64_t value) const { return static_cast<double>(value); }
  double operator()(double value) const { return value; }
  double operator()(const std::string&) const { return 0; }
};

}  // namespace

CostModel CostModel::FromPlan(const SearchPlan& plan) {
  CostModel model;
  std::vector<std::pair<const PlanNode*, StepsMeasured>> measurements;
  std::map<std::pair<Subject, std::optional<std::string>>, Column> columns;
  for (const auto& [id, node] : plan.nodes) {
    const StepsMeasured measurement = StepsMeasuredOf(node);
    if (measurement.steps <= 0) continue;
    measurements.emplace_back(&node, measurement);
    const Seconds step_time = std::max(kStepTimeMin, measurement.seconds / static_cast<double>(measurement.steps));
    model.least_ = model.measured_.empty() ? step_time : std::min(model.least_, step_time);
    model.measured_[id] = step_time;
    const Configuration configuration = node.configuration.Unpack();
    for (Subject& subject : SubjectsOf(configuration)) {
      const std::optional<Value> value = ValueAt(configuration, node.start, subject);
      const auto* text = std::get_if<std::string>(&*value);
      columns[{std::move(subject), text != nullptr ? std::optional(*text) : std::nullopt}].Add(*value);
    }
  }
  // What differs among the measurements first: the rest explains nothing of them.
  for (const bool differing : {true, false}) {
    for (const auto& [feature, column] : columns) {
      if (model.features_.size() == kFeatureCountMax) break;
      const bool differs = column.differs || column.count < measurements.size();
      if (differs == differing) model.features_.push_back({feature.first, feature.second});
    }
  }
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
  const Configuration configuration = node.configuration.Unpack();
  for (const Feature& feature : features_) {
    const std::optional<Value> value = ValueAt(configuration, node.start, feature.subject);
    if (feature.text) {
      row.push_back(value == Value{*feature.text} ? 1 : 0);
    } else {
      row.push_back(value ? std::visit(NumberOf{}, *value) : 0);
    }
  }
  return row;
}

}  // namespace espalier
