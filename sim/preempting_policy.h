// The policy that the state names, but that it also preempts runs at random when it is told to: for any that has its
// reasons. One thread.
#pragma once

#include "master/core/chosen_policy.h"
#include "sim/chance.h"

namespace espalier::sim {

class PreemptingPolicy : public Policy {
 public:
  // REQUIRES: `chance` outlives it.
  explicit PreemptingPolicy(Chance& chance) : chance_(chance) {}

  // As ChosenPolicy::For: itself.
  Policy& For(const master::MasterState& state, const master::Event& event) {
    if (forgets_) chosen_ = {};
    policy_ = &chosen_.For(state, event);
    return *this;
  }

  // So many runs, as soon as it is asked; fewer if fewer can be.
  void PreemptSoon(std::int64_t count) { wanted_ = count; }

  // From now on the policy begins anew with each event, and finds what it needs in what is stored. Nothing may come of
  // it.
  void ForgetWithEachEvent() { forgets_ = true; }

  // REQUIRES of these: For was called.
  std::string_view name() const override { return policy_->name(); }
  Ranking ranking() const override { return policy_->ranking(); }
  bool is_fair() const override { return policy_->is_fair(); }
  void Take(const PolicyEvent& event, const View& view) override { policy_->Take(event, view); }
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
  master::ChosenPolicy chosen_;
  Policy* policy_ = nullptr;
  Chance& chance_;
  std::int64_t wanted_ = 0;
  bool forgets_ = false;
};

}  // namespace espalier::sim
