#include "searchplan/plan/plan_edit.h"

#include <algorithm>
#include <sstream>

#include "base/check.h"

namespace espalier {
namespace {

PlanNode& MutableNode(SearchPlan& plan, PlanNodeId id) { return plan.nodes.at(id); }

PointRecord& MutablePoint(SearchPlan& plan, Point point) {
  PlanNode& node = MutableNode(plan, point.node);
  ESPALIER_CHECK(node.start < point.step)
      << "step " << point.step.value << " belongs to the parent of plan node " << point.node.value;
  return node.points.Mutable()[point.step];
}

struct Applier {
  SearchPlan& plan;

  void operator()(const AddPlanNode& change) const {
    PlanNode node{
        .id = change.id, .parent = change.parent, .start = change.start, .configuration = change.configuration};
    node.lineage = LineageDigest(plan, change.parent, change.start, change.configuration);
    if (change.parent) {
      PlanNode& parent = MutableNode(plan, *change.parent);
      ESPALIER_CHECK(parent.start < change.start) << "plan node " << change.id.value << " starts before its parent";
      parent.children.insert(std::upper_bound(parent.children.begin(), parent.children.end(), change.id), change.id);
    } else {
      plan.roots.push_back(change.id);
    }
    ESPALIER_CHECK(plan.nodes.Add(std::move(node))) << "plan node " << change.id.value << " exists";
  }

  void operator()(const AddClaim& change) const {
    ESPALIER_CHECK(plan.claims.emplace(change.claim.id, change.claim).second) << "claim exists";
    if (change.claim.state != ClaimState::kWaiting) return;
    plan.waiting.insert(change.claim.id);
    plan.waiting_at.emplace(change.claim.point, change.claim.id);
  }

  void operator()(const SettleClaim& change) const {
    ESPALIER_CHECK(plan.waiting.erase(change.claim) == 1) << "claim " << change.claim.value << " does not wait";
    Claim& claim = plan.claims.at(change.claim);
    claim.state = change.state;
    plan.waiting_at.erase({claim.point, claim.id});
  }

  void operator()(const AddMetrics& change) const {
    MutablePoint(plan, change.point).metrics.emplace(change.evaluation, change.metrics);
  }

  void operator()(const SetCheckpoint& change) const {
    PointRecord& record = MutablePoint(plan, change.point);
    record.checkpoint = change.checkpoint;
    record.state_sha256 = change.state_sha256;
  }

  void operator()(const DropCheckpoint& change) const { MutablePoint(plan, change.point).checkpoint.reset(); }

  void operator()(const SetFailure& change) const { MutablePoint(plan, change.point).failure = change.failure; }

  void operator()(const SetEvaluationFailure& change) const {
    MutablePoint(plan, change.point).evaluation_failures.insert_or_assign(change.evaluation, change.message);
  }

  void operator()(const SetCrashCount& change) const {
    if (change.point.step == Step{0}) {
      MutableNode(plan, change.point.node).root_crash_count = change.count;
    } else {
      MutablePoint(plan, change.point).crash_count = change.count;
    }
  }

  void operator()(const SetTrainedRange& change) const {
    std::vector<TrainedRange>& trained = MutableNode(plan, change.node).trained.Mutable();
    const auto known = std::find_if(trained.begin(), trained.end(),
                                    [&](const TrainedRange& range) { return range.run == change.range.run; });
    if (known == trained.end()) {
      trained.push_back(change.range);
    } else {
      *known = change.range;
    }
  }
};

std::ostream& operator<<(std::ostream& out, Point point) { return out << point.node.value << "@" << point.step.value; }

struct Printer {
  std::ostream& out;

  void operator()(const AddPlanNode& change) const {
    out << "add plan node " << change.id.value << " start=" << change.start.value;
    if (change.parent) out << " parent=" << change.parent->value;
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
  void operator()(const DropCheckpoint& change) const { out << "drop checkpoint at " << change.point; }
  void operator()(const SetFailure& change) const {
    out << "set failure at " << change.point << " " << Name(change.failure.kind);
  }
  void operator()(const SetEvaluationFailure& change) const { out << "set evaluation failure at " << change.point; }
  void operator()(const SetCrashCount& change) const {
    out << "set crash count at " << change.point << " " << change.count;
  }
  void operator()(const SetTrainedRange& change) const {
    out << "trained run=" << change.range.run.value << " node=" << change.node.value << " (" << change.range.from.value
        << ", " << change.range.to.value << "]";
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
