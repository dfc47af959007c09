// The policy that the state names, as what decides. It is made anew when another was chosen, and when the state was
// loaded: what a policy remembers is of one memory. One thread.
#pragma once

#include <memory>

#include "master/core/event.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

class ChosenPolicy {
 public:
  // What is to be handed to React with the event; good until it is called again.
  Policy& For(const MasterState& state, const Event& event);

 private:
  std::unique_ptr<Policy> policy_;
};

}  // namespace espalier::master
