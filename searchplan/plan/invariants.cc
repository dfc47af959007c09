#include "searchplan/plan/invariants.h"

#include <algorithm>
#include <map>
#include <utility>

namespace espalier {
namespace {

class Checker {
 public:
  explicit Checker(const SearchPlan& plan) : plan_(plan) {}

  std::vector<std::string> Run() {
    for (const PlanNodeId root : plan_.roots) CheckRoot(root);
    for (const auto& [id, node] : plan_.nodes) CheckNode(id, node);
    for (const auto& [id, claim] : plan_.claims) CheckClaim(id, claim);
    return std::move(broken_);
  }

 private:
  void Break(std::string sentence) { broken_.push_back(std::move(sentence)); }
  static std::string Of(PlanNodeId id) { return "plan node " + std::to_string(id.value); }

  void CheckRoot(PlanNodeId id) {
    const auto it = plan_.nodes.find(id);
    if (it == plan_.nodes.end()) return Break("root " + Of(id) + " does not exist");
    if (it->second.parent) Break("root " + Of(id) + " has a parent");
    if (it->second.start != Step{0}) Break("root " + Of(id) + " does not start at step 0");
    const auto origin = plan_.origins.find(id);
    if (origin == plan_.origins.end()) return;
    if (origin->second.point.step <= Step{0}) Break("root " + Of(id) + " begins with a state of no step");
    if (origin->second.plan == plan_.id) Break("root " + Of(id) + " begins with a state of its own plan");
  }

  void CheckNode(PlanNodeId id, const PlanNode& node) {
    if (node.id != id) Break(Of(id) + " is filed under another id");
    const Schema& schema = plan_.identity.training.schema;
    const Configuration configuration = node.configuration.Unpack();
    if (configuration.DeclaredCount() != schema.hyper_parameters.size()) {
      Break(Of(id) + " has not one function for each hyper-parameter");
    }
    if (!configuration.undeclared.empty() && !schema.takes_any) {
      Break(Of(id) + " has hyper-parameters that nobody declared");
    }
    const auto begins = plan_.origins.find(id);
    const Origin* origin = begins == plan_.origins.end() ? nullptr : &begins->second;
    if (node.lineage != LineageDigest(plan_, node.parent, node.start, node.configuration, origin)) {
      Break(Of(id) + " has a wrong lineage digest");
    }
    if (node.parent) CheckChild(id, node, plan_.Node(*node.parent));
    CheckResults(id, node);
    std::map<std::pair<Step, Digest128>, PlanNodeId> seen;
    for (const PlanNodeId child : node.children) {
      const PlanNode& child_node = plan_.Node(child);
      if (!seen.emplace(std::pair(child_node.start, DigestOf(child_node.configuration.bytes())), child).second) {
        Break("two children of " + Of(id) + " start alike");
      }
    }
  }

  void CheckResults(PlanNodeId id, const PlanNode& node) {
    const NodeResults& results = *node.results;
    const auto check_place = [&](const auto& by_step) {
      if (!by_step.empty() && by_step.begin()->first <= node.start) {
        Break(Of(id) + " has a point that belongs to its parent");
      }
    };
    check_place(results.checkpoints);
    CheckBehindOrigin(id, results);
    check_place(results.metrics);
    check_place(results.failures);
    check_place(results.evaluation_failures);
    for (const auto& [step, checkpoint] : results.checkpoints) {
      if (!results.state_digests.contains(step)) Break(Of(id) + " has a checkpoint without its digest");
    }
  }

  void CheckBehindOrigin(PlanNodeId id, const NodeResults& results) {
    const Origin* origin = OriginOf(plan_, id);
    if (origin == nullptr) return;
    const Step begins = origin->point.step;
    const bool has_state = !results.checkpoints.empty() && results.checkpoints.begin()->first < begins;
    const bool is_trained =
        std::ranges::any_of(results.trained, [&](const TrainedRange& range) { return range.from < begins; });
    if (has_state || is_trained) Break(Of(id) + " was trained before the state that it begins with");
  }

  void CheckChild(PlanNodeId id, const PlanNode& node, const PlanNode& parent) {
    if (parent.start >= node.start) Break(Of(id) + " does not start after its parent");
    if (parent.configuration == node.configuration) Break(Of(id) + " does not differ from its parent");
  }

  void CheckClaim(ClaimId id, const Claim& claim) {
    const std::string name = "claim " + std::to_string(id.value);
    const auto node = plan_.nodes.find(claim.point.node);
    if (node == plan_.nodes.end()) return Break(name + " is of no plan node");
    if (claim.point.step <= node->second.start) Break(name + " is of a point that belongs to the parent");
    const bool waits = claim.state == ClaimState::kWaiting;
    if (waits != plan_.waiting.contains(id)) Break(name + " is listed as waiting wrongly");
    const bool failed = claim.state == ClaimState::kFailed;
    if (failed != plan_.failed.contains(id)) Break(name + " is listed as failed wrongly");
    const std::vector<ClaimId>& there = plan_.ClaimsAt(claim.point);
    if (std::find(there.begin(), there.end(), id) == there.end()) Break(name + " is not listed at its point");
  }

  const SearchPlan& plan_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> CheckInvariants(const SearchPlan& plan) { return Checker(plan).Run(); }

}  // namespace espalier
