#include "searchplan/plan/search_plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/enum_names.h"
#include "base/key_text.h"

namespace espalier {
namespace {

constexpr EnumName<Failure::Kind> kFailureKinds[] = {{Failure::Kind::kDiverged, "diverged"},
                                                     {Failure::Kind::kFinished, "finished"},
                                                     {Failure::Kind::kTrainer, "trainer"},
                                                     {Failure::Kind::kOutOfMemory, "out of memory"},
                                                     {Failure::Kind::kCrash, "crash"}};

}  // namespace

Digest128 DigestOf(const PlanIdentity& identity) {
  KeyText key("plan-identity-2");
  key.Add(ToHex(DigestOf(identity.training))).Add(identity.device_kind).Add(Name(identity.sharing.scope));
  key.Add(identity.sharing.team).Add(std::to_string(identity.sharing.study.value));
  key.Add(std::to_string(identity.sharing.trial.value));
  return DigestOf(key.text());
}

std::string_view Name(Failure::Kind kind) { return NameIn(kFailureKinds, kind); }

Demand Larger(const Demand& a, const Demand& b) {
  return {std::max(a.compute, b.compute), std::max(a.memory_bytes, b.memory_bytes)};
}

Result<Failure::Kind> ParseFailureKind(std::string_view name) { return ParseIn(kFailureKinds, name); }

const PlanNode& SearchPlan::Node(PlanNodeId node) const { return nodes.at(node); }

namespace {

// What `results` holds at the key; null if there is none.
template <class Map>
const typename Map::mapped_type* Find(const SearchPlan& plan, PlanNodeId id, Map NodeResults::*results,
                                      const typename Map::key_type& key) {
  const auto node = plan.nodes.find(id);
  if (node == plan.nodes.end()) return nullptr;
  const Map& map = (*node->second.results).*results;
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

const Checkpoint* SearchPlan::FindCheckpoint(Point point) const {
  return Find(*this, point.node, &NodeResults::checkpoints, point.step);
}

const StateDigest* SearchPlan::FindStateDigest(Point point) const {
  return Find(*this, point.node, &NodeResults::state_digests, point.step);
}

const Metrics* SearchPlan::FindMetrics(Point point, const std::string& evaluation) const {
  const auto* metrics = Find(*this, point.node, &NodeResults::metrics, point.step);
  if (metrics == nullptr) return nullptr;
  const auto of_evaluation = metrics->find(evaluation);
  return of_evaluation == metrics->end() ? nullptr : &of_evaluation->second;
}

const Failure* SearchPlan::FindFailure(Point point) const {
  return Find(*this, point.node, &NodeResults::failures, point.step);
}

const std::string* SearchPlan::FindEvaluationFailure(Point point, const std::string& evaluation) const {
  const auto* failures = Find(*this, point.node, &NodeResults::evaluation_failures, point.step);
  if (failures == nullptr) return nullptr;
  const auto of_evaluation = failures->find(evaluation);
  return of_evaluation == failures->end() ? nullptr : &of_evaluation->second;
}

const Attempts* SearchPlan::FindAttempts(PlanNodeId node, const AttemptKey& key) const {
  return Find(*this, node, &NodeResults::attempts, key);
}

const std::vector<ClaimId>& SearchPlan::ClaimsAt(Point point) const {
  static const std::vector<ClaimId> kNone;
  const auto there = claims_at.find(point);
  return there == claims_at.end() ? kNone : there->second;
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

std::optional<Point> LastCheckpointBefore(const SearchPlan& plan, Point point) {
  for (std::optional<PlanNodeId> id = point.node; id; id = plan.Node(*id).parent) {
    const PlanNode& node = plan.Node(*id);
    const std::map<Step, Checkpoint>& checkpoints = node.results->checkpoints;
    const auto after = checkpoints.upper_bound(point.step);
    if (after != checkpoints.begin()) return Point{*id, std::prev(after)->first};
    point.step = node.start;
  }
  return std::nullopt;
}

const Origin* OriginOf(const SearchPlan& plan, PlanNodeId node) {
  if (plan.origins.empty()) return nullptr;
  while (const auto parent = plan.Node(node).parent) node = *parent;
  const auto origin = plan.origins.find(node);
  return origin == plan.origins.end() ? nullptr : &origin->second;
}

const Origin* OriginAt(const SearchPlan& plan, Point point) {
  const Origin* origin = OriginOf(plan, point.node);
  return origin != nullptr && origin->point.step == point.step ? origin : nullptr;
}

Digest128 LineageDigest(const SearchPlan& plan, std::optional<PlanNodeId> parent, Step start,
                        const PackedConfiguration& configuration, const Origin* origin) {
  return LineageDigest(parent ? plan.Node(*parent).lineage : DigestOf(plan.identity), start, configuration, origin);
}

Digest128 LineageDigest(const Digest128& above, Step start, const PackedConfiguration& configuration,
                        const Origin* origin) {
  KeyText key("lineage-2");
  key.Add(ToHex(above));
  key.Add(std::to_string(start.value)).Add(configuration.bytes());
  if (origin != nullptr) key.Add(ToHex(origin->lineage)).Add(std::to_string(origin->point.step.value));
  return DigestOf(key.text());
}

}  // namespace espalier
