#include "master/core/views/checkpoint_sizes.h"

#include <algorithm>

#include "master/core/state/visibility.h"

namespace espalier::master {
namespace {

Digest128 TrainingOf(const SearchPlan& plan) { return DigestOf(PlanIdentity{.training = plan.identity.training}); }

}  // namespace

CheckpointSizes::Key CheckpointSizes::KeyOf(const SearchPlan& plan, const Digest128& training, PlanNodeId node) {
  while (const auto parent = plan.Node(node).parent) node = *parent;
  const std::vector<HyperParameter>& declared = plan.identity.training.schema.hyper_parameters;
  const Configuration configuration = plan.Node(node).configuration.Unpack();
  std::string initial;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].initial) initial += CanonicalBytes(configuration.functions.at(i));
  }
  return {training, std::move(initial)};
}

CheckpointSizes::CheckpointSizes(const MasterState& state, const std::vector<TrainingIdentity>& trainings,
                                 const std::string& team) {
  for (const auto& [plan_id, plan] : state.plans) {
    const bool is_wanted = std::find(trainings.begin(), trainings.end(), plan.identity.training) != trainings.end();
    if (!is_wanted || !MayKnow(state, plan, team)) continue;
    const Digest128 training = TrainingOf(plan);
    for (const auto& [node_id, node] : plan.nodes) {
      for (const auto& [step, checkpoint] : node.results->checkpoints) {
        Sum& sum = sums_[KeyOf(plan, training, node_id)];
        sum.bytes += static_cast<double>(checkpoint.bytes);
        ++sum.count;
      }
    }
  }
}

std::optional<double> CheckpointSizes::MeanUnder(const SearchPlan& plan, PlanNodeId node) const {
  const auto sum = sums_.find(KeyOf(plan, TrainingOf(plan), node));
  if (sum == sums_.end()) return std::nullopt;
  return sum->second.bytes / static_cast<double>(sum->second.count);
}

}  // namespace espalier::master
