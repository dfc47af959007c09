#include "searchplan/plan/invariants.h"

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
    if (node.lineage != LineageDigest(plan_, node.parent, node.start, node.configuration)) {
      Break(Of(id) + " has a wrong lineage digest");
    }
    if (node.parent) CheckChild(id, node, plan_.Node(*node.parent));
    for (const auto& [step, record] : node.points) {
      if (step <= node.start) Break(Of(id) + " has a point that belongs to its parent");
      if (record.checkpoint && record.state_sha256.empty()) Break(Of(id) + " has a checkpoint without its digest");
    }
    std::map<std::pair<Step, Digest128>, PlanNodeId> seen;
    for (const PlanNodeId child : node.children) {
      const PlanNode& child_node = plan_.Node(child);
      if (!seen.emplace(std::pair(child_node.start, DigestOf(child_node.configuration.bytes())), child).second) {
        Break("two children of " + Of(id) + " start alike");
      }
    }
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
    if (waits != plan_.waiting.contains(id) || waits != plan_.waiting_at.contains({claim.point, id})) {
      Break(name + " is listed as waiting wrongly");
    }
  }

  const SearchPlan& plan_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> CheckInvariants(const SearchPlan& plan) { return Checker(plan).Run(); }

}  // namespace espalier
