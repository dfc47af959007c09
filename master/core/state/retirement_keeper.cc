#include "master/core/state/retirement_keeper.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "master/core/state/cache_keeper.h"

namespace espalier::master {
namespace {

// Most stand where they finished; few are put off.
void TakeOut(std::set<std::pair<Time, StudyId>>& turns, const Study& study) {
  if (turns.erase({*study.finished_at, study.id}) == 1) return;
  std::erase_if(turns, [&](const auto& turn) { return turn.second == study.id; });
}

}  // namespace

void RetirementKeeper::Finished(const Study& study) { state_.index.to_retire.emplace(*study.finished_at, study.id); }

void RetirementKeeper::PutOff(const Study& study, Time until) {
  TakeOut(state_.index.to_retire, study);
  state_.index.to_retire.emplace(until, study.id);
}

void RetirementKeeper::ListAnew(StudyId study) {
  std::optional<Retiring>& retiring = state_.index.retiring;
  if (retiring && retiring->study == study) retiring.reset();
}

void RetirementKeeper::ListKept(const Study& study, std::size_t count) {
  std::optional<Retiring>& retiring = state_.index.retiring;
  if (!retiring || retiring->study != study.id) retiring = Retiring{.study = study.id, .seen = 0, .kept = {}};
  const std::vector<KeptState> kept = KeptBy(state_, study, retiring->seen, count);
  retiring->kept.insert(retiring->kept.end(), kept.begin(), kept.end());
  retiring->seen += count;
}

void RetirementKeeper::Retired(StudyId id) {
  const Study& study = state_.studies.at(id);
  ESPALIER_CHECK(study.finished_at.has_value()) << "study " << id.value << " is running";
  Indexes& index = state_.index;
  TakeOut(index.to_retire, study);
  ListAnew(id);
  state_.states_awaited.erase(id);  // by others' runs, since it is finished
  const RetiredStudy& retired = state_.retired.at(id);
  index.steps.Freeze(id, retired.steps);
  if (state_.trials_by_study.at(id).empty()) {
    state_.trial_index.at(id) = TrialIndex::Retired(retired.trials, retired.claimed_steps, retired.best);
    if (retired.device_time > 0) state_.device_time[id] = retired.device_time;
    if (retired.shared_time > 0) state_.shared_time[id] = retired.shared_time;
    for (const KeptState& kept : retired.kept) CacheKeeper(state_).CountKept(kept.plan, kept.point, 1);
  }
  if (HasSome(id)) index.forgetting.insert(id);
}

bool RetirementKeeper::HasSome(StudyId study) const {
  const auto request = state_.requests.lower_bound({study, ""});
  return !state_.trials_by_study.at(study).empty() || !state_.events.at(study).empty() ||
         state_.index.runs_of_study.contains(study) ||
         (request != state_.requests.end() && request->first.first == study);
}

void RetirementKeeper::Forget(StudyId study, std::size_t count) {
  ESPALIER_CHECK(IsRetired(state_, study)) << "study " << study.value << " is not retired";
  std::vector<TrialId>& trials = state_.trials_by_study.at(study);
  std::vector<StudyEvent>& events = state_.events.at(study);
  for (std::size_t i = 0; i < count; ++i) {
    if (!trials.empty()) {
      ForgetTrial(trials.back());
      trials.pop_back();
    }
    if (!events.empty()) events.pop_back();
    const auto request = state_.requests.lower_bound({study, ""});
    if (request != state_.requests.end() && request->first.first == study) state_.requests.erase(request);
    ForgetRun(study);
  }
  if (HasSome(study)) return;
  trials.shrink_to_fit();
  events.shrink_to_fit();
  state_.event_times.erase(study);
  const RetiredStudy& retired = state_.retired.at(study);
  state_.trial_index.at(study) = TrialIndex::Retired(retired.trials, retired.claimed_steps, retired.best);
  state_.tuner_turns.at(study) = {};
  state_.horizons.erase(study);
  state_.index.plans_of_study.erase(study);
  state_.index.going_on.erase(study);
  state_.index.forgetting.erase(study);
}

void RetirementKeeper::ForgetRequests(Time before, std::size_t count) {
  auto& oldest = state_.index.own_requests;
  for (std::size_t i = 0; i < count && !oldest.empty() && oldest.begin()->first < before; ++i) {
    state_.requests.erase({StudyId{0}, oldest.begin()->second});
    oldest.erase(oldest.begin());
  }
}

void RetirementKeeper::ForgetTrial(TrialId id) {
  const Trial& trial = state_.trials.at(id);
  SearchPlan& plan = state_.plans.at(trial.plan);
  state_.index.steps.Forget(state_, trial);
  state_.trial_index.at(trial.study).Forget(id);
  for (const ClaimId claim : trial.claims) ForgetClaim(plan, claim);
  if (const auto states = state_.index.state_claims.extract(id)) {
    for (const ClaimId claim : states.mapped()) ForgetClaim(plan, claim);
  }
  state_.trials.erase(id);
}

void RetirementKeeper::ForgetClaim(SearchPlan& plan, ClaimId id) {
  const Point point = plan.claims.at(id).point;
  const auto there = plan.claims_at.find(point);
  there->second.erase(std::lower_bound(there->second.begin(), there->second.end(), id));
  if (there->second.empty()) plan.claims_at.erase(there);
  plan.failed.erase(id);
  plan.claims.erase(id);
  state_.plan_by_claim.erase(id);
}

// The study's last one. It leaves once nobody else needs it.
void RetirementKeeper::ForgetRun(StudyId study) {
  const auto runs = state_.index.runs_of_study.find(study);
  if (runs == state_.index.runs_of_study.end()) return;
  const Run& run = state_.runs.at(*runs->second.rbegin());
  ESPALIER_CHECK(run.ended()) << "run " << run.id.value << " has not ended";
  runs->second.erase(run.id);
  if (runs->second.empty()) state_.index.runs_of_study.erase(runs);
  const bool serves_others =
      std::ranges::any_of(run.charges, [&](const auto& charge) { return !IsRetired(state_, charge.first); });
  // Of the day on which it was charged last quotas count what it was charged.
  if (!serves_others) LeavesFrom(run.id, std::chrono::floor<std::chrono::days>(run.charged_to) + std::chrono::days(1));
}

void RetirementKeeper::LeavesFrom(RunId run, Time from) {
  NoLongerLeaves(run);
  state_.index.leaves_from.emplace(run, from);
  state_.index.to_leave.emplace(from, run);
}

void RetirementKeeper::NoLongerLeaves(RunId run) {
  const auto known = state_.index.leaves_from.extract(run);
  if (known) state_.index.to_leave.erase({known.mapped(), run});
}

void RetirementKeeper::Leave(const Run& run) {
  ESPALIER_CHECK(run.ended()) << "run " << run.id.value << " has not ended";
  for (const auto& [study, charge] : run.charges) {
    const auto runs = state_.index.runs_of_study.find(study);
    if (runs == state_.index.runs_of_study.end()) continue;
    runs->second.erase(run.id);
    if (runs->second.empty()) state_.index.runs_of_study.erase(runs);
  }
  NoLongerLeaves(run.id);
  state_.index.steps.Forget(run);
  state_.runs.erase(run.id);
}

}  // namespace espalier::master
