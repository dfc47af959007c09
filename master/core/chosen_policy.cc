#include "master/core/chosen_policy.h"

#include <variant>

namespace espalier::master {

Policy& ChosenPolicy::For(const MasterState& state, const Event& event) {
  const bool is_new = policy_ == nullptr || policy_->name() != state.policy.name;
  if (is_new || std::holds_alternative<Recovered>(event)) policy_ = MakePolicy(state.policy.name).value();
  return *policy_;
}

}  // namespace espalier::master
