#include "worker/node/core/run_path.h"

#include <algorithm>

#include "base/check.h"

namespace espalier::node {
namespace {

tl::unexpected<Error> Defect(std::string message, std::string field) {
  return MakeError(ErrorCode::kInvalidArgument, std::move(message), std::move(field));
}

// A function has no values before its origin.
bool HoldsFrom(const Configuration& configuration, Step step) {
  return std::all_of(configuration.functions.begin(), configuration.functions.end(),
                     [step](const Function& function) { return function.origin <= step; });
}

Values ValuesOf(const Schema& schema, const Configuration& configuration, Step step, bool initial_too) {
  Values values;
  for (std::size_t i = 0; i < schema.hyper_parameters.size(); ++i) {
    const HyperParameter& parameter = schema.hyper_parameters[i];
    if (initial_too || !parameter.initial) values[parameter.name] = espalier::At(configuration.functions[i], step);
  }
  for (const std::string& name : configuration.undeclared) {
    values[name] = espalier::At(*configuration.FindUndeclared(name), step);
  }
  return values;
}

Result<void> CheckConfiguration(const PackedConfiguration& packed, const Offer& offer, Step from) {
  const Configuration configuration = packed.Unpack();
  if (configuration.DeclaredCount() != offer.schema.hyper_parameters.size()) {
    return Defect("has another number of hyper-parameters than the offer", "configuration");
  }
  if (!HoldsFrom(configuration, from)) return Defect("begins after the steps that it is for", "configuration");
  return {};
}

Result<void> CheckPath(const Order& order) {
  if (!order.start.has_value() && order.path.empty()) return Defect("there is neither a start nor a path", "path");
  Step at = order.start.has_value() ? order.start->point.step : Step{0};
  for (std::size_t i = 0; i < order.path.size(); ++i) {
    const std::string field = "path[" + std::to_string(i) + "]";
    const PathStage& stage = order.path[i].stage;
    if (stage.from != at || stage.to <= stage.from) return Defect("is not joined to what comes before it", field);
    const Result<void> fits = CheckConfiguration(order.path[i].configuration, order.offer, stage.from);
    if (!fits.has_value()) return InField(field, fits.error());
    at = stage.to;
  }
  return {};
}

}  // namespace

Result<void> CheckOrder(const Order& order, const std::vector<Device>& devices) {
  ESPALIER_RETURN_IF_ERROR(CheckReservation(devices, order.slot, order.reservation));
  if (order.start.has_value()) {
    if (order.start->point.step < Step{1}) return Defect("step 0 has no checkpoint", "start");
    const Result<void> fits = CheckConfiguration(order.start->configuration, order.offer, order.start->point.step - 1);
    if (!fits.has_value()) return InField("start", fits.error());
    const Result<void> root_fits = CheckConfiguration(order.start->root, order.offer, Step{0});
    if (!root_fits.has_value()) return InField("start.root", root_fits.error());
  }
  return CheckPath(order);
}

Result<void> CheckWanted(const WantedCheck& wanted, const std::vector<Device>& devices) {
  ESPALIER_RETURN_IF_ERROR(CheckReservation(devices, wanted.slot, wanted.reservation));
  return CheckConfiguration(wanted.root, wanted.offer, Step{0});
}

RunPath::RunPath(const Order& order) : schema_(order.offer.schema), from_init_(!order.start.has_value()) {
  if (!from_init_) {
    start_ = order.start->point.step;
    start_point_ = order.start->point;
    start_lineage_ = order.start->lineage;
    before_start_ = order.start->configuration.Unpack();
    root_ = order.start->root.Unpack();
  }
  for (const OrderedStage& stage : order.path) {
    stages_.push_back({stage.stage, stage.configuration.Unpack(), stage.lineage});
  }
}

std::vector<PathStage> RunPath::stages() const {
  std::vector<PathStage> stages;
  for (const Stage& stage : stages_) stages.push_back(stage.stage);
  return stages;
}

const RunPath::Stage* RunPath::StageThatReaches(Step step) const {
  for (const Stage& stage : stages_) {
    if (stage.stage.from < step && step <= stage.stage.to) return &stage;
  }
  return nullptr;
}

Point RunPath::PointAt(Step step) const {
  if (!from_init_ && step == start_) return start_point_;
  const Stage* stage = StageThatReaches(step);
  ESPALIER_CHECK(stage != nullptr) << "step " << step.value << " is not on the path";
  return {stage->stage.node, step};
}

Digest128 RunPath::LineageAt(Step step) const {
  if (!from_init_ && step == start_) return start_lineage_;
  const Stage* stage = StageThatReaches(step);
  ESPALIER_CHECK(stage != nullptr) << "step " << step.value << " is not on the path";
  return stage->lineage;
}

Values RunPath::ValuesAtInit() const {
  return ValuesAtStart(schema_, from_init_ ? stages_.front().configuration : root_);
}

Values RunPath::SequenceValues(Step step) const {
  const Stage* stage = step < start_ ? nullptr : StageThatReaches(step + 1);
  ESPALIER_CHECK(stage != nullptr || step < start_) << "step " << step.value << " is not on the path";
  return ValuesOf(schema_, stage == nullptr ? before_start_ : stage->configuration, step, /*initial_too=*/false);
}

std::vector<ValuesAtStep> RunPath::ChangesBetween(Step from, Step to) const {
  std::vector<ValuesAtStep> changes;
  Values in_force = SequenceValues(from - 1);
  for (Step step = from; step < to; step = step + 1) {
    Values values = SequenceValues(step);
    if (Values changed = Changed(values, in_force); !changed.empty()) changes.push_back({step, std::move(changed)});
    in_force = std::move(values);
  }
  return changes;
}

Values ValuesAtStart(const Schema& schema, const Configuration& root) {
  return ValuesOf(schema, root, Step{0}, /*initial_too=*/true);
}

Values Changed(const Values& wanted, const Values& in_force) {
  Values changed;
  for (const auto& [name, value] : wanted) {
    const auto it = in_force.find(name);
    if (it == in_force.end() || it->second != value) changed[name] = value;
  }
  for (const auto& [name, value] : in_force) {
    if (!wanted.contains(name)) changed[name] = NeutralValue(TypeOf(value));
  }
  return changed;
}

}  // namespace espalier::node
