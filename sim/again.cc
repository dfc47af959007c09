#include "sim/again.h"

#include <algorithm>
#include <optional>
#include <set>

#include "sim/training.h"

namespace espalier::sim {
namespace {

TrainedAlone Alone(const master::MasterState& stored, const master::Trial& trial) {
  Offer offer = OfferOf(1, 0);
  offer.code_digest = stored.studies.at(trial.study).training.code_digest;
  return {offer, trial.sequences, trial.horizon};
}

// When each claim was made that needs a state, by the state and its plan: the last of them.
using LastWish = std::map<std::pair<PlanId, std::uint64_t>, Seconds>;

LastWish LastWishes(const master::MasterState& stored, const std::map<ClaimId, Seconds>& claimed_at) {
  LastWish wishes;
  for (const auto& [id, trial] : stored.trials) {
    const TrainedAlone alone = Alone(stored, trial);
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

// On the way of trainings that their trainers finish: a run may go back there, to measure where it was finished.
std::set<std::pair<PlanId, std::uint64_t>> GoneBackOver(const master::MasterState& stored) {
  std::set<std::pair<PlanId, std::uint64_t>> states;
  for (const auto& [id, trial] : stored.trials) {
    const TrainedAlone alone = Alone(stored, trial);
    for (Step step{1}; alone.finishes() && step <= alone.last(); step = step + 1) {
      states.insert({trial.plan, alone.StateAt(step)});
    }
  }
  return states;
}

// In how many ways trials come to the state: by different functions, which happen to have equal values up to there.
std::size_t WaysTo(PlanId plan, Step step, std::uint64_t state, const master::MasterState& stored) {
  std::vector<std::vector<JointSegment>> ways;
  for (const auto& [id, trial] : stored.trials) {
    if (trial.plan != plan || trial.horizon < step) continue;
    const TrainedAlone alone = Alone(stored, trial);
    if (alone.StateAt(step) != state) continue;
    std::vector<JointSegment> way = alone.SegmentsBefore(step);
    if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(std::move(way));
  }
  return ways.size();
}

}  // namespace

void Again::OnTrained(PlanId plan, const TrainedStep& trained, Seconds now) {
  const auto [known, is_first] = trained_.try_emplace({plan, trained.after}, Trained{.first_at = now});
  if (++known->second.times > 1) repeated_.push_back({plan, trained});
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
  const auto gone_back_over = GoneBackOver(stored);
  for (const Repeated& repeated : repeated_) {
    const auto& [plan, step] = repeated;
    if (gone_back_over.contains({plan, step.after})) continue;
    const Trained& trained = trained_.at({plan, step.after});
    const auto wish = wishes.find({plan, step.after});
    if (wish != wishes.end() && wish->second + to_node >= trained.first_at) continue;
    if (trained.times <= WaysTo(plan, step.step, step.after, stored)) continue;
    return "what is asked for in time is trained once: step " + std::to_string(step.step.value) + " by run " +
           std::to_string(step.run.run.value) + " again";
  }
  return {};
}

}  // namespace espalier::sim
