#include "master/core/nodes/saves_on_the_way.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "master/core/state/prices.h"

namespace espalier::master {
namespace {

// Of the studies whose open trials part here, the likeliest.
double ChanceOf(const MasterState& state, const StudyTally& parting) {
  double chance = 0;
  for (const auto& [study, count] : parting.counts()) {
    const auto known = state.index.going_on.find(study);
    const GoingOn going_on = known == state.index.going_on.end() ? GoingOn{} : known->second;
    chance = std::max(chance, static_cast<double>(going_on.did + 1) / static_cast<double>(going_on.might + 1));
  }
  return std::min(chance, 1.0);
}

// Of one state; 0: none was stored yet.
std::int64_t StateBytes(NodePrices& prices) { return std::llround(prices.Estimate(CostKind::kStateBytes).value_or(0)); }

// What the budget leaves for states that a run saves on its way.
class Room {
 public:
  Room(const MasterState& state, std::int64_t budget) : cache_(state.index.cache), budget_(budget) {}

  // A state that nothing drops.
  void Take(std::int64_t bytes) { taken_ += bytes; }
  // False: over the budget it would be the first to go, since nothing that stands goes before it.
  bool TryTake(Standing standing, std::int64_t bytes) {
    const std::int64_t stays = cache_.bytes() - cache_.BytesThatGoBefore(standing);
    if (budget_ > 0 && stays + taken_ + bytes > budget_) return false;
    taken_ += bytes;
    return true;
  }

 private:
  const CheckpointCache& cache_;
  const std::int64_t budget_;
  std::int64_t taken_ = 0;
};

// Open trials that may leave a run's path at a step.
struct Leaving {
  StudyTally parting;
  bool claimed = false;  // one of them has its last claim there
};

// By step of the stage; `next`: where the path goes on, if it does. O(open ends at the stage).
std::map<Step, Leaving> LeavingAt(const MasterState& state, const PathStage& stage, std::optional<PlanNodeId> next) {
  std::map<Step, Leaving> leaving;
  const auto ends = state.index.open_ends.find(stage.node);
  if (ends == state.index.open_ends.end()) return leaving;
  for (auto it = ends->second.lower_bound({stage.from + 1, PlanNodeId{0}}); it != ends->second.end(); ++it) {
    const auto& [step, to] = it->first;
    if (step > stage.to) break;
    if (step == stage.to && to == next) continue;
    Leaving& here = leaving[step];
    here.parting.Add(it->second.parting, 1);
    here.claimed |= it->second.claimed > 0;
  }
  return leaving;
}

std::int64_t CountIn(const std::set<Step>& steps, const PathStage& stage) {
  return std::distance(steps.upper_bound(stage.from), steps.upper_bound(stage.to));
}

constexpr Seconds kSavePeriodMin{20};

}  // namespace

Seconds SavePeriod(std::span<NodePrices> path, Seconds between_failures) {
  Seconds save_time{0};
  for (NodePrices& prices : path) save_time = std::max(save_time, prices.Time(CostKind::kSave));
  return std::max(kSavePeriodMin, Seconds(std::sqrt(2 * save_time.count() * between_failures.count())));
}

std::vector<Step> SavesOnTheWay(const MasterState& state, const Run& run, const std::set<Step>& owed,
                                const ReactorSettings& settings) {
  std::vector<Step> saves;
  const SearchPlan& plan = state.plans.at(run.plan);
  std::vector<NodePrices> prices = PricesAlong(state, run);
  const bool has_budget = settings.checkpoint_bytes > 0;
  const std::int64_t every = settings.save_every_steps;
  Room room(state, settings.checkpoint_bytes);
  for (std::size_t i = 0; has_budget && i < run.path.size(); ++i) {
    room.Take(StateBytes(prices[i]) * CountIn(owed, run.path[i]));
  }
  Seconds since_last{0};  // trained since the last state on the way
  for (std::size_t i = 0; i < run.path.size(); ++i) {
    const PathStage& stage = run.path[i];
    const std::map<Step, Leaving> leaving =
        LeavingAt(state, stage, i + 1 == run.path.size() ? std::nullopt : std::optional(run.path[i + 1].node));
    NodePrices& here = prices[i];
    const Seconds step_time = here.Time(CostKind::kStep);
    const Seconds save_time = here.Time(CostKind::kSave);
    const std::int64_t bytes = has_budget ? StateBytes(here) : 0;
    std::set<Step> steps(owed.upper_bound(stage.from), owed.upper_bound(stage.to));
    for (const auto& [step, who] : leaving) steps.insert(step);
    if (every > 0) {
      const std::int64_t first = (stage.from.value / every + 1) * every;
      for (std::int64_t step = first; step <= stage.to.value; step += every) steps.insert(Step{step});
    }
    Step at = stage.from;
    for (const Step step : steps) {
      since_last += static_cast<double>(step - at) * step_time;
      at = step;
      if (owed.contains(step) || plan.FindCheckpoint({stage.node, step}) != nullptr) {
        since_last = Seconds(0);
        continue;
      }
      const auto left = leaving.find(step);
      const Leaving who = left == leaving.end() ? Leaving{} : left->second;
      const bool pays = every > 0 ? step.value % every == 0 : ChanceOf(state, who.parting) * since_last > save_time;
      if (!who.claimed && !pays) continue;
      if (!room.TryTake(who.claimed ? Standing::kOpenTrial : Standing::kIdle, bytes)) continue;
      saves.push_back(step);
      since_last = Seconds(0);
    }
    since_last += static_cast<double>(stage.to - at) * step_time;
  }
  return saves;
}

}  // namespace espalier::master
