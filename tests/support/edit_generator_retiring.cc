// The part of EditGenerator that takes studies out of memory.
#include "base/digest.h"
#include "master/core/retiring.h"
#include "sim/memory_history_store.h"
#include "tests/support/edit_generator.h"

namespace espalier::master {

void EditGenerator::Retire() {
  const StudyId study = AnyStudy();
  if (state_.studies.at(study).finished_at && !IsRetired(state_, study)) Retire(study);
}

// Whatever else is to be done before.
void EditGenerator::Retire(StudyId study) {
  for (const TrialId trial : state_.trials_by_study.at(study)) EndTrial(trial);
  const std::set<RunId> active = state_.active_runs;
  for (const RunId run : active) {
    if (state_.runs.at(run).charges.contains(study)) EndRun(run);
  }
  Do(ListKept{study, 1'000'000});
  histories_.emplace(study, StoredPart(HistoryOf(state_, study)));
  for (auto it = state_.requests.lower_bound({study, ""}); it != state_.requests.end() && it->first.first == study;
       ++it) {
    requests_[study].emplace(it->first.second, it->second);
  }
  Do(RetireStudy{study, RetiredNow(state_, study, Moment())});
  while (state_.index.forgetting.contains(study)) Do(ForgetSome{study, 2});
  RetireRuns leaving;
  for (const auto& [run, from] : state_.index.leaves_from) leaving.runs.push_back(run);
  if (!leaving.runs.empty() && Chance(70)) Do(std::move(leaving));
}

StateEdit EditGenerator::RetireAll() {
  edit_.clear();
  const std::map<StudyId, Study> studies = state_.studies;
  for (const auto& [id, study] : studies) {
    if (IsRetired(state_, id)) continue;
    for (const TrialId trial : state_.trials_by_study.at(id)) EndTrial(trial);
  }
  const std::set<RunId> active = state_.active_runs;
  for (const RunId run : active) EndRun(run);
  for (const auto& [id, study] : studies) {
    if (IsRetired(state_, id)) continue;
    if (!study.finished_at) {
      Do(CloseStudy{id, false, ""});
      AddEvent(id, StudyFinished{});
      Do(FinishStudy{id, Moment()});
    }
    Retire(id);
  }
  return std::move(edit_);
}

// With the states that it kept before, with none, or with others.
void EditGenerator::PinRetired() {
  if (state_.retired.empty()) return;
  const StudyId study = AnyKey(state_.retired);
  std::vector<KeptState> kept = state_.retired.at(study).kept;
  if (Chance(50)) kept.clear();
  for (int i = Below(3); i > 0; --i) {
    PlanId plan;
    if (const auto point = AnyPoint(plan)) kept.push_back({plan, *point});
  }
  Do(SetKeep{study, static_cast<Keep>(Below(4)), std::move(kept)});
  const AnsweredRequest answer{DigestOf(Text()), {study.value, 0}, Moment()};
  const std::string id = "pin " + std::to_string(++request_);
  Do(AddRequest{{study, id}, answer});
  requests_[study].emplace(id, answer);
  while (state_.index.forgetting.contains(study)) Do(ForgetSome{study, 2});
}

void EditGenerator::EndTrial(TrialId id) {
  const Trial trial = state_.trials.at(id);
  const std::set<ClaimId> waiting = state_.plans.at(trial.plan).waiting;
  for (const ClaimId claim : waiting) {
    const Claim settled = state_.plans.at(trial.plan).claims.at(claim);
    if (settled.trial != id) continue;
    Do(ChangePlan{trial.plan, SettleClaim{claim, ClaimState::kCancelled}});
    if (IsForStateAlone(settled)) continue;
    AddEvent(trial.study, ClaimSettled{claim, id, settled.point.step, ClaimState::kCancelled, {}, {}});
  }
  if (!trial.closed) Do(CloseTrial{id, true});
}

void EditGenerator::EndRun(RunId id) {
  const std::map<PromiseId, Promise> promises = state_.runs.at(id).promises;
  for (const auto& [promise, made] : promises) {
    if (made.state == PromiseState::kOpen) Do(SettlePromise{id, promise, PromiseState::kLost, Moment()});
  }
  Do(SetRunState{id, Ended{}});
}

}  // namespace espalier::master
