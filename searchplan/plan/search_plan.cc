#include "searchplan/plan/search_plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/enum_names.h"
#include "searchplan/plan/key_text.h"

namespace espalier {
namespace {

constexpr EnumName<ClaimState> kClaimStates[] = {{ClaimState::kWaiting, "waiting"},
                                                 {ClaimState::kDone, "done"},
                                                 {ClaimState::kFailed, "failed"},
                                                 {ClaimState::kCancelled, "cancelled"}};
constexpr EnumName<Failure::Kind> kFailureKinds[] = {{Failure::Kind::kDiverged, "diverged"},
                                                     {Failure::Kind::kTrainer, "trainer"},
                                                     {Failure::Kind::kOutOfMemory, "out of memory"},
                                                     {Failure::Kind::kCrash, "crash"}};

}  // namespace

Digest128 DigestOf(const PlanIdentity& identity) {
  KeyText key("plan-identity-1");
  const TrainingIdentity& training = identity.training;
  key.Add(training.trainer).Add(training.code_digest).Add(training.data).Add(training.data_digest);
  key.Add(std::to_string(training.step_updates));
  for (const HyperParameter& parameter : training.schema.hyper_parameters) {
    key.Add(parameter.name).Add(Name(parameter.type)).Add(Print(parameter.default_value));
    key.Add(parameter.initial ? "initial" : "sequence");
  }
  if (training.schema.takes_any) key.Add("takes any");
  key.Add("").Add(identity.device_kind).Add(identity.scope);
  return DigestOf(key.text());
}

std::string_view Name(ClaimState state) { return NameIn(kClaimStates, state); }

Result<ClaimState> ParseClaimState(std::string_view name) { return ParseIn(kClaimStates, name); }

std::string_view Name(Failure::Kind kind) { return NameIn(kFailureKinds, kind); }

Result<Failure::Kind> ParseFailureKind(std::string_view name) { return ParseIn(kFailureKinds, name); }

const PlanNode& SearchPlan::Node(PlanNodeId node) const { return nodes.at(node); }

const PointRecord* SearchPlan::FindPoint(Point point) const {
  const auto node = nodes.find(point.node);
  if (node == nodes.end()) return nullptr;
  const auto record = node->second.points->find(point.step);
  return record == node->second.points.end() ? nullptr : &record->second;
}

const Metrics* SearchPlan::FindMetrics(Point point, const std::string& evaluation) const {
  const PointRecord* record = FindPoint(point);
  if (record == nullptr) return nullptr;
  const auto metrics = record->metrics.find(evaluation);
  return metrics == record->metrics.end() ? nullptr : &metrics->second;
}

std::vector<PlanNodeId> LineageTo(const SearchPlan& plan, PlanNodeId leaf) {
  std::vector<PlanNodeId> lineage{leaf};
  while (const auto parent = plan.Node(lineage.back()).parent) lineage.push_back(*parent);
  std::reverse(lineage.begin(), lineage.end());
  return lineage;
}

Point PointOn(const SearchPlan& plan, PlanNodeId leaf, Step step) {
  ESPALIER_CHECK(step.value >= 1) << "step " << step.value << " is no point";
  PlanNodeId node = leaf;
  while (plan.Node(node).start >= step) node = plan.Node(node).parent.value();
  return {node, step};
}

Digest128 LineageDigest(const SearchPlan& plan, std::optional<PlanNodeId> parent, Step start,
                        const PackedConfiguration& configuration) {
  KeyText key("lineage-1");
  key.Add(ToHex(parent ? plan.Node(*parent).lineage : DigestOf(plan.identity)));
  key.Add(std::to_string(start.value)).Add(configuration.bytes());
  return DigestOf(key.text());
}

}  // namespace espalier
