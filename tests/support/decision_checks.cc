#include "tests/support/decision_checks.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "master/core/state/cache_keeper.h"
#include "master/core/views/trial_state.h"
#include "searchplan/plan/invariants.h"
#include "tests/support/need_oracle.h"
#include "tests/support/step_audit.h"

namespace espalier::master {
namespace {

void CheckPlan(const MasterState& state, const SearchPlan& plan) {
  const std::vector<std::string> broken = CheckInvariants(plan);
  INFO((broken.empty() ? "" : broken.front()));
  REQUIRE(broken.empty());
  const auto needs = state.index.needs.find(plan.id);
  if (needs == state.index.needs.end()) return;
  std::vector<RunView> views;
  for (const RunId run : state.active_runs) {
    if (state.runs.at(run).plan == plan.id) views.push_back(ViewOf(state.runs.at(run)));
  }
  REQUIRE(WorkOf(needs->second, plan) == WorkOf(BuildStageTree(plan, views)));
  const std::vector<std::string> wrong = WrongPromises(plan, views);
  INFO((wrong.empty() ? "" : wrong.front()));
  REQUIRE(wrong.empty());
}

// What stands is known, and kept for the reason that it has.
void CheckCache(const MasterState& state) {
  const CheckpointCache& cache = state.index.cache;
  std::int64_t bytes = 0;
  std::size_t count = 0;
  for (const auto& [id, plan] : state.plans) {
    for (const auto& [node, content] : plan.nodes) {
      for (const auto& [step, checkpoint] : content.results->checkpoints) {
        if (OriginAt(plan, {node, step}) != nullptr) {  // another plan's file
          REQUIRE_FALSE(cache.StandingOf({node, step}).has_value());
          continue;
        }
        INFO("node " << node.value << ", step " << step.value);
        REQUIRE(cache.StandingOf({node, step}) == StandingNow(state, id, {node, step}));
        bytes += checkpoint.bytes;
        ++count;
      }
    }
  }
  REQUIRE(cache.bytes() == bytes);
  REQUIRE(cache.size() == count);
}

void CheckStudy(const MasterState& state, StudyId study) {
  StepTotals totals = state.index.steps.Of(state, study);
  totals.claimed_time = totals.unique_time = 0;
  REQUIRE((totals == TotalsFromScratch(state, study)));
  std::map<std::string, std::int64_t> states;
  for (const TrialId trial : state.trials_by_study.at(study)) ++states[TrialState(state, state.trials.at(trial))];
  REQUIRE(CountTrialStates(state, study) == states);
}

}  // namespace

void DecisionChecks::OnLoaded(const MasterState& state) {
  announced_.clear();
  for (const auto& [study, events] : state.events) announced_[study] = events.size();
}

void DecisionChecks::OnDecided(const Transition& transition, const MasterState& state) {
  for (const auto& [id, plan] : state.plans) CheckPlan(state, plan);
  for (const auto& [id, study] : state.studies) {
    if (!IsRetired(state, id)) CheckStudy(state, id);
  }
  CheckCache(state);
  for (const Effect& effect : transition.effects) {
    if (const auto* added = std::get_if<EventsAdded>(&effect)) Hear(*added, state);
  }
  for (const auto& [study, events] : state.events) {
    if (!IsRetired(state, study)) REQUIRE(announced_[study] == events.size());
  }
}

void DecisionChecks::Hear(const EventsAdded& added, const MasterState& state) {
  std::size_t& announced = announced_[added.study];
  REQUIRE(added.first == static_cast<std::int64_t>(announced) + 1);
  const std::vector<StudyEvent>& events = state.events.at(added.study);
  REQUIRE(announced + added.events.size() <= events.size());
  REQUIRE(std::equal(added.events.begin(), added.events.end(), events.begin() + (added.first - 1)));
  announced += added.events.size();
}

}  // namespace espalier::master
