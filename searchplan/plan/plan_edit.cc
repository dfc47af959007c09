#include "searchplan/plan/plan_edit.h"

#include <algorithm>
#include <sstream>

#include "base/check.h"

namespace espalier {
namespace {

PlanNode& MutableNode(SearchPlan& plan, PlanNodeId id) { return plan.nodes.at(id); }

// What is known under the node of a point.
NodeResults& ResultsAt(SearchPlan& plan, Point point) {
  PlanNode& node = MutableNode(plan, point.node);
  ESPALIER_CHECK(node.start < point.step)
      << "step " << point.step.value << " belongs to the parent of plan node " << point.node.value;
  return node.results.Mutable();
}

// Sets the value at the key, or removes it.
template <class Map>
void SetOrErase(Map& map, const typename Map::key_type& key, const std::optional<typename Map::mapped_type>& value) {
  if (value) {
    map.insert_or_assign(key, *value);
  } else {
    map.erase(key);
  }
}

struct Applier {
  SearchPlan& plan;

  void operator()(const AddPlanNode& change) const {
    PlanNode node{.id = change.id,
                  .parent = change.parent,
                  .start = change.start,
                  .configuration = change.configuration,
                  .caused_by = change.caused_by};
    node.lineage = LineageDigest(plan, change.parent, change.start, change.configuration,
                                 change.origin ? &*change.origin : nullptr);
    ESPALIER_CHECK(!change.parent || !change.origin) << "plan node " << change.id.value << " is no root";
    if (change.parent) {
      PlanNode& parent = MutableNode(plan, *change.parent);
      ESPALIER_CHECK(parent.start < change.start) << "plan node " << change.id.value << " starts before its parent";
      parent.children.insert(std::upper_bound(parent.children.begin(), parent.children.end(), change.id), change.id);
    } else {
      plan.roots.push_back(change.id);
      if (change.origin) plan.origins.emplace(change.id, *change.origin);
    }
    ESPALIER_CHECK(plan.nodes.Add(std::move(node))) << "plan node " << change.id.value << " exists";
  }

  void operator()(const AddClaim& change) const {
    ESPALIER_CHECK(plan.claims.emplace(change.claim.id, change.claim).second) << "claim exists";
    std::vector<ClaimId>& there = plan.claims_at[change.claim.point];
    there.insert(std::upper_bound(there.begin(), there.end(), change.claim.id), change.claim.id);
    if (change.claim.state == ClaimState::kWaiting) plan.waiting.insert(change.claim.id);
    if (change.claim.state == ClaimState::kFailed) plan.failed.insert(change.claim.id);
  }

  void operator()(const SettleClaim& change) const {
    ESPALIER_CHECK(plan.waiting.erase(change.claim) == 1) << "claim " << change.claim.value << " does not wait";
    plan.claims.at(change.claim).state = change.state;
    if (change.state == ClaimState::kFailed) plan.failed.insert(change.claim);
  }

  void operator()(const AddMetrics& change) const {
    ResultsAt(plan, change.point).metrics[change.point.step].emplace(change.evaluation, change.metrics);
  }

  void operator()(const SetCheckpoint& change) const {
    NodeResults& results = ResultsAt(plan, change.point);
    results.checkpoints.insert_or_assign(change.point.step, change.checkpoint);
    results.state_digests.insert_or_assign(change.point.step, change.state);
  }

  void operator()(const DropCheckpoint& change) const {
    const Checkpoint* stands = plan.FindCheckpoint(change.point);
    if (stands != nullptr && stands->file == change.file)
      ResultsAt(plan, change.point).checkpoints.erase(change.point.step);
  }

  void operator()(const SetFailure& change) const {
    SetOrErase(ResultsAt(plan, change.point).failures, change.point.step, change.failure);
  }

  void operator()(const SetEvaluationFailure& change) const {
    auto& failures = ResultsAt(plan, change.point).evaluation_failures;
    SetOrErase(failures[change.point.step], change.evaluation, change.message);
    if (failures[change.point.step].empty()) failures.erase(change.point.step);
  }

  void operator()(const SetAttempts& change) const {
    SetOrErase(MutableNode(plan, change.node).results.Mutable().attempts, change.key, change.attempts);
  }

  void operator()(const SetTrainedRange& change) const {
    std::vector<TrainedRange>& trained = MutableNode(plan, change.node).results.Mutable().trained;
    const auto known = std::find_if(trained.rbegin(), trained.rend(),  // it is seldom an old one
                                    [&](const TrainedRange& range) { return range.run == change.range.run; });
    if (known == trained.rend()) {
      trained.push_back(change.range);
    } else {
      *known = change.range;
    }
  }

  void operator()(const SetMeasurement& change) const {
    MutableNode(plan, change.node).results.Mutable().measurements[change.kind] = change.measurement;
  }
};

std::ostream& operator<<(std::ostream& out, Point point) { return out << point.node.value << "@" << point.step.value; }

struct Printer {
  std::ostream& out;

  void operator()(const AddPlanNode& change) const {
    out << "add plan node " << change.id.value << " start=" << change.start.value;
    if (change.parent) out << " parent=" << change.parent->value;
    if (change.origin) out << " origin=" << change.origin->point;
  }
  void operator()(const AddClaim& change) const {
    out << "add claim " << change.claim.id.value << " trial=" << change.claim.trial.value << " at "
        << change.claim.point;
  }
  void operator()(const SettleClaim& change) const {
    out << "settle claim " << change.claim.value << " " << Name(change.state);
  }
  void operator()(const AddMetrics& change) const {
    out << "add metrics at " << change.point;
    for (const auto& [name, value] : change.metrics) out << " " << name << "=" << value;
  }
  void operator()(const SetCheckpoint& change) const {
    out << "set checkpoint at " << change.point << " file=" << change.checkpoint.file;
  }
  void operator()(const DropCheckpoint& change) const {
    out << "drop checkpoint at " << change.point << " file=" << change.file;
  }
  void operator()(const SetFailure& change) const {
    out << (change.failure ? "set" : "clear") << " failure at " << change.point;
    if (change.failure) out << " " << Name(change.failure->kind);
  }
  void operator()(const SetEvaluationFailure& change) const {
    out << (change.message ? "set" : "clear") << " evaluation failure at " << change.point;
  }
  void operator()(const SetAttempts& change) const {
    out << (change.attempts ? "set" : "clear") << " attempts of node " << change.node.value << " from "
        << change.key.from.value;
    if (!change.attempts) return;
    out << " crashes=" << change.attempts->crashes << " kills=" << change.attempts->kills
        << " unusable=" << change.attempts->unusable << " demand=" << change.attempts->demand.compute
        << " lost_servers=" << change.attempts->lost_servers.size();
  }
  void operator()(const SetTrainedRange& change) const {
    out << "trained run=" << change.range.run.value << " node=" << change.node.value << " (" << change.range.from.value
        << ", " << change.range.to.value << "]";
  }
  void operator()(const SetMeasurement& change) const {
    out << "measured node=" << change.node.value << " " << Name(change.kind) << " count=" << change.measurement.count
        << " total=" << change.measurement.total;
  }
};

}  // namespace

void Apply(SearchPlan& plan, const PlanChange& change) { std::visit(Applier{plan}, change); }

std::string Print(const PlanChange& change) {
  std::ostringstream out;
  std::visit(Printer{out}, change);
  return out.str();
}

}  // namespace espalier
