#include "master/core/views/checkpoint_sizes.h"

namespace espalier::master {
namespace {

PlanNodeId RootOf(const SearchPlan& plan, PlanNodeId node) {
  while (const auto parent = plan.Node(node).parent) node = *parent;
  return node;
}

}  // namespace

CheckpointSizes::Key CheckpointSizes::KeyOf(const SearchPlan& plan, PlanNodeId root) {
  const std::vector<HyperParameter>& declared = plan.identity.training.schema.hyper_parameters;
  const Configuration configuration = plan.Node(root).configuration.Unpack();
  std::string initial;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].initial) initial += CanonicalBytes(configuration.functions.at(i));
  }
  return {DigestOf(PlanIdentity{.training = plan.identity.training}), std::move(initial)};
}

void CheckpointSizes::Add(const SearchPlan& plan, const PlanNode& node) {
  if (node.results->checkpoints.empty()) return;
  const PlanNodeId root = RootOf(plan, node.id);
  auto key = key_of_root_.find(root);
  if (key == key_of_root_.end()) key = key_of_root_.emplace(root, KeyOf(plan, root)).first;
  Sum& sum = sums_[key->second];
  for (const auto& [step, checkpoint] : node.results->checkpoints) {
    sum.bytes += static_cast<double>(checkpoint.bytes);
    ++sum.count;
  }
}

std::optional<double> CheckpointSizes::MeanUnder(const SearchPlan& plan, PlanNodeId node) const {
  const auto sum = sums_.find(KeyOf(plan, RootOf(plan, node)));
  if (sum == sums_.end()) return std::nullopt;
  return sum->second.bytes / static_cast<double>(sum->second.count);
}

}  // namespace espalier::master
