#include "master/core/state/fair_keeper.h"

#include "master/core/state/usage.h"

namespace espalier::master {

void FairKeeper::StudyAdded(const Study& study) {
  state_.index.fair_share.AddStudy(study.id, study.team, study.weight);
}

void FairKeeper::SetWeight(const std::string& team, StudyId study, double weight) {
  if (team.empty()) {
    state_.studies.at(study).weight = weight;
    state_.index.fair_share.SetStudyWeight(study, weight);
  } else {
    state_.team_weights[team] = weight;
    state_.index.fair_share.SetTeamWeight(team, weight);
  }
}

void FairKeeper::ReadyChanged(const SearchPlan& plan) {
  for (const StudyId study : state_.index.needs.at(plan.id).TakeReadyChanged()) ListReady(plan, study);
}

void FairKeeper::ListReady(const SearchPlan& plan, StudyId study) {
  Indexes& index = state_.index;
  const NeedIndex& needs = index.needs.at(plan.id);
  std::set<RankedPlan>& plans = index.ready_for[study];
  const auto known = index.ready_rank_for.find({plan.id, study});
  if (known != index.ready_rank_for.end()) {
    plans.erase({known->second, plan.id});
    index.ready_rank_for.erase(known);
  }
  const auto best = needs.FirstReadyFor(study);
  if (best != needs.ready_stages().end() && best->study == study && !IsStopped(state_, study)) {
    plans.insert({best->rank, plan.id});
    index.ready_rank_for.emplace(std::pair(plan.id, study), best->rank);
  }
  const bool wants = !plans.empty();
  if (!wants) index.ready_for.erase(study);
  index.fair_share.Want(study, wants);
}

void FairKeeper::StoppedOrNot(const Party& party) {
  for (const StudyId study : state_.running_studies) {
    const auto plans = state_.index.plans_of_study.find(study);
    if (!CountsFor(state_.studies.at(study), party) || plans == state_.index.plans_of_study.end()) continue;
    for (const PlanId plan : plans->second) {
      const auto needs = state_.index.needs.find(plan);
      if (needs == state_.index.needs.end()) continue;
      ListReady(state_.plans.at(plan), study);
      needs->second.LookAgainAt(study);
      state_.index.work_changed.insert(plan);
    }
  }
}

void FairKeeper::Serves(const Run& run) {
  if (run.training() && !run.preempt) state_.index.fair_share.Hold(run.id, run.slots, run.serves);
}

void FairKeeper::Reorder() {
  state_.index.ready_for.clear();
  state_.index.ready_rank_for.clear();
}

}  // namespace espalier::master
