// A policy that also preempts runs at random when it is told to: for any other that has its reasons. One thread.
#pragma once

#include <memory>
#include <utility>

#include "scheduler/policy.h"
#include "sim/chance.h"

namespace espalier::sim {

class PreemptingPolicy : public Policy {
 public:
  // REQUIRES: `chance` outlives it.
  PreemptingPolicy(std::unique_ptr<Policy> policy, Chance& chance) : policy_(std::move(policy)), chance_(chance) {}

  // So many runs, as soon as it is asked; fewer if fewer can be.
  void PreemptSoon(std::int64_t count) { wanted_ = count; }

  std::string_view name() const override { return policy_->name(); }
  Ranking ranking() const override { return policy_->ranking(); }
  std::optional<Action> Decide(const View& view, Time now) override {
    if (wanted_ > 0) {
      --wanted_;
      const std::vector<RunView> runs = view.Preemptible();
      if (!runs.empty()) return PreemptRun{chance_.OneOf(runs).id};
      wanted_ = 0;
    }
    return policy_->Decide(view, now);
  }

 private:
  std::unique_ptr<Policy> policy_;
  Chance& chance_;
  std::int64_t wanted_ = 0;
};

}  // namespace espalier::sim
