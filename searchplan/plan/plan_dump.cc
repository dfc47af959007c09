#include "searchplan/plan/plan_dump.h"

#include <sstream>
#include <vector>

#include "base/check.h"

namespace espalier {
namespace {

// " label=[a b c]"; nothing without items.
void PrintList(std::ostream& out, const char* label, const std::vector<std::string>& items) {
  if (items.empty()) return;
  out << " " << label << "=[";
  for (std::size_t i = 0; i < items.size(); ++i) out << (i == 0 ? "" : " ") << items[i];
  out << "]";
}

struct Dumper {
  const SearchPlan& plan;
  std::map<PlanNodeId, std::vector<const Claim*>> claims;
  std::ostringstream out;

  void PrintPoints(const PlanNode& node) {
    std::vector<std::string> checkpoints;
    std::vector<std::string> metrics;
    std::vector<std::string> failures;
    const NodeResults& results = *node.results;
    for (const auto& [step, checkpoint] : results.checkpoints) checkpoints.push_back(std::to_string(step.value));
    for (const auto& [step, of_evaluations] : results.metrics) metrics.push_back(std::to_string(step.value));
    for (const auto& [step, failure] : results.failures) {
      failures.push_back(std::to_string(step.value) + ":" + std::string(Name(failure.kind)));
    }
    PrintList(out, "checkpoints", checkpoints);
    PrintList(out, "metrics", metrics);
    PrintList(out, "failures", failures);
  }

  void PrintNode(const PlanNode& node, int depth) {
    out << std::string(static_cast<std::size_t>(2 * depth), ' ') << "node " << node.id.value
        << " start=" << node.start.value;
    if (const auto origin = plan.origins.find(node.id); origin != plan.origins.end()) {
      const Point begins = origin->second.point;
      out << " origin=" << begins.node.value << "@" << begins.step.value;
    }
    for (const auto& [name, text] : ChangedFunctions(plan, node)) out << " " << name << "=" << text;
    PrintPoints(node);
    std::vector<std::string> trained;
    for (const TrainedRange& range : node.results->trained) {
      trained.push_back("run " + std::to_string(range.run.value) + ": " + std::to_string(range.from.value) + ".." +
                        std::to_string(range.to.value));
    }
    PrintList(out, "trained", trained);
    std::vector<std::string> claimed;
    for (const Claim* claim : claims[node.id]) {
      claimed.push_back(std::to_string(claim->id.value) + "@" + std::to_string(claim->point.step.value) + ":" +
                        std::string(Name(claim->state)));
    }
    PrintList(out, "claims", claimed);
    out << "\n";
  }
};

}  // namespace

std::map<std::string, std::string> ChangedFunctions(const SearchPlan& plan, const PlanNode& node) {
  const std::vector<HyperParameter>& schema = plan.identity.training.schema.hyper_parameters;
  const Configuration configuration = node.configuration.Unpack();
  const Configuration before = node.parent ? plan.Node(*node.parent).configuration.Unpack() : Configuration{};
  ESPALIER_CHECK(configuration.DeclaredCount() == schema.size())
      << "plan node " << node.id.value << " does not fit its schema";
  std::map<std::string, std::string> functions;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const Function& function = configuration.functions[i];
    if (node.parent && before.functions.at(i) == function) continue;
    functions[schema[i].name] = Print(function);
  }
  for (const std::string& name : configuration.undeclared) {
    const Function& function = *configuration.FindUndeclared(name);
    const Function* was = before.FindUndeclared(name);
    if (was == nullptr || *was != function) functions[name] = Print(function);
  }
  for (const std::string& name : before.undeclared) {
    if (configuration.FindUndeclared(name) != nullptr) continue;
    functions[name] = Print(NeutralValue(TypeOf(At(*before.FindUndeclared(name), node.start - 1))));
  }
  return functions;
}

std::string DumpPlan(const SearchPlan& plan) {
  Dumper dumper{.plan = plan};
  for (const auto& [id, claim] : plan.claims) dumper.claims[claim.point.node].push_back(&claim);
  const TrainingIdentity& training = plan.identity.training;
  dumper.out << "plan " << plan.id.value << " trainer=" << training.trainer << " data=" << training.data
             << " device_kind=" << plan.identity.device_kind << " scope=" << Name(plan.identity.sharing.scope) << "\n";
  std::vector<std::pair<PlanNodeId, int>> open;  // with their depths; the next one last
  const auto open_all = [&](const std::vector<PlanNodeId>& ids, int depth) {
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) open.emplace_back(*id, depth);
  };
  open_all(plan.roots, 0);
  while (!open.empty()) {
    const auto [id, depth] = open.back();
    open.pop_back();
    dumper.PrintNode(plan.Node(id), depth);
    open_all(plan.Node(id).children, depth + 1);
  }
  return dumper.out.str();
}

}  // namespace espalier
