#include "sim/again.h"

#include <algorithm>
#include <optional>

#include "sim/training.h"

namespace espalier::sim {
namespace {

// When each claim was made that needs a state, by the state and its plan: the last of them.
using LastWish = std::map<std::pair<PlanId, std::uint64_t>, Seconds>;

LastWish LastWishes(const master::MasterState& stored, const std::map<ClaimId, Seconds>& claimed_at) {
  LastWish wishes;
  for (const auto& [id, trial] : stored.trials) {
    const master::Study& study = stored.studies.at(trial.study);
    Offer offer = OfferOf(1, 0);
    offer.code_digest = study.training.code_digest;
    const TrainedAlone alone(offer, trial.sequences, trial.horizon);
    for (const ClaimId claim : trial.claims) {
      const Step to = stored.plans.at(trial.plan).claims.at(claim).point.step;
      for (Step step{1}; step <= to; step = step + 1) {
        Seconds& last = wishes[{trial.plan, alone.StateAt(step)}];
        last = std::max(last, claimed_at.at(claim));
      }
    }
  }
  return wishes;
}

}  // namespace

void Again::OnTrained(PlanId plan, const TrainedStep& trained, Seconds now) {
  const auto [first, is_first] = first_at_.try_emplace({plan, trained.after}, now);
  if (!is_first) repeated_.push_back({plan, trained, first->second});
}

void Again::OnDecided(const master::Transition& transition, Seconds now) {
  for (const master::StateChange& change : transition.edit) {
    const auto* plan = std::get_if<master::ChangePlan>(&change);
    const auto* add = plan == nullptr ? nullptr : std::get_if<AddClaim>(&plan->change);
    if (add != nullptr) claimed_at_[add->claim.id] = now;
  }
}

std::string Again::FindNeedless(const master::MasterState& stored, Seconds to_node) const {
  if (repeated_.empty()) return {};
  const LastWish wishes = LastWishes(stored, claimed_at_);
  for (const Repeated& repeated : repeated_) {
    const auto wish = wishes.find({repeated.plan, repeated.step.after});
    if (wish != wishes.end() && wish->second + to_node >= repeated.first_at) continue;
    return "what is asked for in time is trained once: step " + std::to_string(repeated.step.step.value) + " by run " +
           std::to_string(repeated.step.run.run.value) + " again";
  }
  return {};
}

}  // namespace espalier::sim
