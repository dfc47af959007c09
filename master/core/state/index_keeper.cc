#include "master/core/state/index_keeper.h"

#include <algorithm>
#include <limits>

#include "master/core/state/cache_keeper.h"
#include "master/core/state/fair_keeper.h"
#include "master/core/state/going_on.h"
#include "master/core/state/step_time.h"
#include "master/core/state/trainer_check.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

// After all points of what comes before the next evaluation identity.
constexpr Point kLastPoint{PlanNodeId{std::numeric_limits<std::int64_t>::max()}, kStepMax};

// The claim before the last one; none if there is none.
const Claim* ClaimBeforeLast(const SearchPlan& plan, const Trial& trial) {
  if (trial.claims.size() < 2) return nullptr;
  return &plan.claims.at(trial.claims[trial.claims.size() - 2]);
}

}  // namespace

template <class Edit>
void IndexKeeper::EditNeeds(const SearchPlan& plan, const Edit& edit) {
  NeedIndex& needs = state_.index.needs[plan.id];
  const NeedEditor::StepTime step_time = [&](const PlanNode& node) {
    const bool is_measured = MeasurementOf(node, CostKind::kStep).count > 0;
    if (!is_measured && needs.StepTimeOf(node.id) == 0) NoteEstimated(plan, node.id);
    return StepMicroseconds(state_, plan, node);
  };
  NeedEditor editor(needs, plan, state_.index.ranking, step_time);
  edit(editor);
  for (const Point point : needs.TakeLookedAt()) CacheKeeper(state_).LookAgain(plan.id, point);
  Rank(plan);
}

void IndexKeeper::NoteEstimated(const SearchPlan& plan, PlanNodeId node) {
  const auto costs = state_.costs.find(plan.cost_key);
  const bool guessed = costs == state_.costs.end() || !costs->second.IsMeasured(CostKind::kStep);
  state_.index.estimated.push_back({plan.id, node, guessed});
  if (guessed) ++state_.index.guessed[plan.id];
}

// Where the plan stands among those that can be ordered.
void IndexKeeper::Rank(const SearchPlan& plan) {
  Indexes& index = state_.index;
  const NeedIndex& needs = index.needs.at(plan.id);
  const OfferKind kind{plan.trainer, plan.identity.device_kind, ""};
  std::set<RankedPlan>& ready = index.ready_plans[kind];
  const auto known = index.ready_rank.find(plan.id);
  if (known != index.ready_rank.end()) ready.erase({known->second, plan.id});
  if (needs.ready_paths().empty()) {
    if (known != index.ready_rank.end()) index.ready_rank.erase(known);
  } else {
    const espalier::Rank best = needs.ready_paths().begin()->rank;
    index.ready_rank[plan.id] = best;
    ready.insert({best, plan.id});
  }
  if (ready.empty()) index.ready_plans.erase(kind);
  FairKeeper(state_).ReadyChanged(plan);
  index.work_changed.insert(plan.id);
  ListEvaluations(plan);
}

// O(evaluation identities that are wanted of the plan).
void IndexKeeper::ListEvaluations(const SearchPlan& plan) {
  Indexes& index = state_.index;
  const std::set<ReadyEvaluation>& ready = index.needs.at(plan.id).ready_evaluations();
  std::set<std::string> wanted;
  for (auto it = ready.begin(); it != ready.end(); it = ready.lower_bound({*wanted.rbegin(), kLastPoint})) {
    wanted.insert(it->evaluation);
  }
  const auto known = index.evaluations_wanted.find(plan.id);
  const std::set<std::string> before =
      known == index.evaluations_wanted.end() ? std::set<std::string>{} : known->second;
  if (wanted == before) return;
  OfferKind kind{plan.trainer, plan.identity.device_kind, ""};
  for (const std::string& evaluation : before) {
    kind.evaluation = evaluation;
    const auto plans = index.plans_to_evaluate.find(kind);
    plans->second.erase(plan.id);
    if (plans->second.empty()) index.plans_to_evaluate.erase(plans);
  }
  for (const std::string& evaluation : wanted) {
    kind.evaluation = evaluation;
    index.plans_to_evaluate[kind].insert(plan.id);
  }
  if (wanted.empty()) {
    index.evaluations_wanted.erase(plan.id);
  } else {
    index.evaluations_wanted[plan.id] = std::move(wanted);
  }
}

void IndexKeeper::RankBy(Ranking ranking) {
  Indexes& index = state_.index;
  index.ranking = ranking;
  index.work_changed.clear();
  index.needs.clear();
  index.ready_plans.clear();
  index.ready_rank.clear();
  FairKeeper(state_).Reorder();
  index.plans_to_evaluate.clear();
  index.evaluations_wanted.clear();
  index.waits_elsewhere.clear();
  index.estimated.clear();
  index.guessed.clear();
  for (const auto& [id, plan] : state_.plans) {
    for (const auto& [node, content] : plan.nodes) {
      for (const auto& [step, checkpoint] : content.results->checkpoints) {
        EditNeeds(plan, [point = Point{node, step}](NeedEditor& editor) { editor.AddCheckpoint(point); });
      }
    }
    for (const ClaimId id_of_claim : plan.waiting) {
      AddWaiting(plan, plan.claims.at(id_of_claim));
      index.needs.at(id).TakeNews();  // nothing is new: it is only put in another order
    }
  }
  for (const RunId id : state_.active_runs) {
    const Run& run = state_.runs.at(id);
    index.needs.try_emplace(run.plan);
    for (const auto& [promise_id, promise] : run.promises) {
      if (promise.state == PromiseState::kOpen) PromiseMade(run, promise);
    }
  }
  for (auto& [id, needs] : index.needs) needs.TakeNews();
  ForgetWorkChanged();
}

void IndexKeeper::ForgetWorkChanged() {
  for (const PlanId plan : std::exchange(state_.index.work_changed, {})) state_.index.needs.at(plan).TakeWorkChanged();
}

void IndexKeeper::ChangeOpenEnds(Point point, PlanNodeId to, const std::function<void(OpenEnds&)>& change) {
  std::map<OpenEnd, OpenEnds>& ends = state_.index.open_ends[point.node];
  const auto at = ends.try_emplace({point.step, to}).first;
  change(at->second);
  if (at->second.claimed == 0 && at->second.parting.counts().empty()) ends.erase(at);
  if (ends.empty()) state_.index.open_ends.erase(point.node);
}

void IndexKeeper::CountLastClaim(PlanId plan, Point point, std::int64_t sign) {
  ChangeOpenEnds(point, PlanNodeId{0}, [&](OpenEnds& ends) { ends.claimed += sign; });
  CacheKeeper(state_).LookAgain(plan, point);
}

void IndexKeeper::CountLineage(const Trial& trial, std::int64_t sign) {
  const SearchPlan& plan = state_.plans.at(trial.plan);
  const auto part = [&](Point point, PlanNodeId to) {
    ChangeOpenEnds(point, to, [&](OpenEnds& ends) { ends.parting.Add(trial.study, sign); });
  };
  const PlanNode* node = &plan.Node(trial.leaf);
  part({node->id, trial.horizon}, PlanNodeId{0});
  while (node->parent) {
    part({*node->parent, node->start}, node->id);
    node = &plan.Node(*node->parent);
  }
}

// The plan has, or has no more, the state that lineages begin with at the point.
void IndexKeeper::NoteTakenOver(const SearchPlan& plan, Point point, bool is_there) {
  const Origin* origin = OriginAt(plan, point);
  if (origin == nullptr) return;
  std::set<std::pair<PlanId, Point>>& places = state_.index.taken_over[origin->point];
  is_there ? (void)places.emplace(plan.id, point) : (void)places.erase({plan.id, point});
  if (places.empty()) state_.index.taken_over.erase(origin->point);
}

void IndexKeeper::TrialAdded(const Trial& trial) {
  if (const Origin* origin = OriginOf(state_.plans.at(trial.plan), trial.leaf)) {
    const bool is_running = !state_.studies.at(trial.study).finished_at;
    if (is_running && state_.index.begun_with[trial.study].emplace(origin->point, origin->plan).second) {
      CacheKeeper(state_).CountKept(origin->plan, origin->point, 1);
    }
  }
  if (trial.closed) {
    ++state_.index.going_on[trial.study].might;
  } else {
    CountLineage(trial, 1);
  }
}

void IndexKeeper::TrialClosed(const Trial& trial) {
  if (trial.claims.size() < 2) ++state_.index.going_on[trial.study].might;
  CountLineage(trial, -1);
  if (!trial.claims.empty())
    CountLastClaim(trial.plan, state_.plans.at(trial.plan).claims.at(trial.claims.back()).point, -1);
}

void IndexKeeper::NoteAsked(const SearchPlan& plan, const Trial& trial, const Claim& claim) {
  const Claim* before = trial.claims.back() == claim.id ? ClaimBeforeLast(plan, trial) : nullptr;
  if (before != nullptr) NoteWentOn(state_, plan, trial, *before, claim);
  if (!trial.closed && trial.claims.back() == claim.id) {
    if (before != nullptr) CountLastClaim(plan.id, before->point, -1);
    CountLastClaim(plan.id, claim.point, 1);
  }
}

void IndexKeeper::ClaimAdded(const SearchPlan& plan, const Claim& claim) {
  if (!IsForStateAlone(claim)) NoteAsked(plan, state_.trials.at(claim.trial), claim);
  if (claim.state == ClaimState::kWaiting) AddWaiting(plan, claim);
}

void IndexKeeper::AddWaiting(const SearchPlan& plan, const Claim& claim) {
  const StudyId study = state_.trials.at(claim.trial).study;
  const Point point = WaitsAt(plan, claim);
  if (point != claim.point) state_.index.waits_elsewhere.insert_or_assign(claim.id, point);
  EditNeeds(plan, [&](NeedEditor& editor) { editor.AddClaim(claim, point, study); });
}

void IndexKeeper::RemoveWaiting(const SearchPlan& plan, const Claim& claim) {
  const StudyId study = state_.trials.at(claim.trial).study;
  const auto elsewhere = state_.index.waits_elsewhere.extract(claim.id);
  const Point point = elsewhere ? elsewhere.mapped() : claim.point;
  EditNeeds(plan, [&](NeedEditor& editor) { editor.RemoveClaim(claim, point, study); });
}

// Beyond the last step of a training, what waits for metrics waits for those of that step.
void IndexKeeper::TrainingFinished(const SearchPlan& plan, Point failing) {
  const auto needs = state_.index.needs.find(plan.id);
  if (needs == state_.index.needs.end()) return;
  for (const auto& [id, waited_at] : needs->second.WaitingFrom(plan, failing)) {
    const Claim& claim = plan.claims.at(id);
    if (WaitsAt(plan, claim) == waited_at) continue;
    RemoveWaiting(plan, claim);
    AddWaiting(plan, claim);
  }
}

void IndexKeeper::PlanChanged(SearchPlan& plan, const PlanChange& change) {
  if (const auto* added = std::get_if<AddClaim>(&change)) return ClaimAdded(plan, added->claim);
  if (const auto* settled = std::get_if<SettleClaim>(&change)) {
    const Claim& claim = plan.claims.at(settled->claim);
    return RemoveWaiting(plan, claim);
  }
  if (const auto* failed = std::get_if<SetFailure>(&change)) {
    const bool is_finished = failed->failure && failed->failure->kind == Failure::Kind::kFinished;
    if (is_finished) TrainingFinished(plan, failed->point);
    return;
  }
  if (const auto* stored = std::get_if<SetCheckpoint>(&change)) {
    NoteTakenOver(plan, stored->point, true);
    EditNeeds(plan, [&](NeedEditor& editor) { editor.AddCheckpoint(stored->point); });
    return CacheKeeper(state_).Stored(plan, stored->point);
  }
  if (const auto* dropped = std::get_if<DropCheckpoint>(&change)) {
    if (plan.FindCheckpoint(dropped->point) != nullptr) return;
    NoteTakenOver(plan, dropped->point, false);
    CacheKeeper(state_).Dropped(plan, dropped->point);
    return EditNeeds(plan, [&](NeedEditor& editor) { editor.RemoveCheckpoint(dropped->point); });
  }
}

void IndexKeeper::PromiseMade(const Run& run, const Promise& promise) {
  const SearchPlan& plan = state_.plans.at(run.plan);
  const Point point = PointOf(run, promise.step);
  EditNeeds(plan, [&](NeedEditor& editor) {
    if (promise.owed == Owed::kState) return editor.AddPromise(point, run.id);
    editor.Cover(point, run.evaluation, run.id,
                 [&](ClaimId claim) { return state_.trials.at(plan.claims.at(claim).trial).study; });
  });
}

void IndexKeeper::PromiseSettled(const Run& run, const Promise& promise) {
  const bool kept_state = promise.owed == Owed::kState && promise.state == PromiseState::kKept;
  if (kept_state) state_.index.preempted_in_vain.erase(BeginningOf(run));
  const SearchPlan& plan = state_.plans.at(run.plan);
  const Point point = PointOf(run, promise.step);
  EditNeeds(plan, [&](NeedEditor& editor) {
    if (promise.owed == Owed::kState) return editor.RemovePromise(point, run.id);
    editor.Uncover(point, run.evaluation, run.id,
                   [&](ClaimId claim) { return state_.trials.at(plan.claims.at(claim).trial).study; });
  });
}

void IndexKeeper::RunAdded(const Run& run) {
  CacheKeeper(state_).RunAdded(run);
  NoteSavesOnTheWay(state_, run);
  for (const auto& [id, promise] : run.promises) {
    if (promise.state == PromiseState::kOpen) PromiseMade(run, promise);
  }
  if (run.ended()) {
    NotePreempted(run);
  } else {
    state_.index.active_runs[run.slot.server].insert(run.id);
    state_.index.needs.try_emplace(run.plan);  // of a plan that was loaded nothing else may be left
  }
  if (!run.training()) return;
  for (const PathStage& stage : run.path) {
    std::vector<RunId>& passing = state_.index.passing[stage.node];
    if (std::find(passing.begin(), passing.end(), run.id) == passing.end()) passing.push_back(run.id);
  }
  SlotTaken(run.slot, run.reservation);
  FairKeeper(state_).Serves(run);
}

void IndexKeeper::SlotTaken(const SlotId& slot, const Reservation& reservation) {
  const auto room = state_.index.rooms.find(slot.server);
  if (room == state_.index.rooms.end()) return;
  const bool had_idle = room->second.HasIdleSlot();
  room->second.Take(slot.index, reservation);
  if (had_idle && !room->second.HasIdleSlot()) UnlistIdle(state_.servers.at(slot.server));
}

void IndexKeeper::NotePreempted(const Run& run) {
  const bool kept_state = std::any_of(run.promises.begin(), run.promises.end(), [](const auto& entry) {
    return entry.second.owed == Owed::kState && entry.second.state == PromiseState::kKept;
  });
  if (kept_state) {
    state_.index.preempted_in_vain.erase(BeginningOf(run));
  } else if (run.preempt) {
    state_.index.preempted_in_vain.insert(BeginningOf(run));
  }
}

void IndexKeeper::RunEnded(const Run& run) {
  NotePreempted(run);
  CacheKeeper(state_).RunEnded(run);
  const auto active = state_.index.active_runs.find(run.slot.server);
  active->second.erase(run.id);
  if (active->second.empty()) state_.index.active_runs.erase(active);
}

void IndexKeeper::TrainingStopped(const Run& run) {
  state_.index.fair_share.Release(run.id);
  for (const PathStage& stage : run.path) {
    const auto passing = state_.index.passing.find(stage.node);
    if (passing == state_.index.passing.end()) continue;
    std::erase(passing->second, run.id);
    if (passing->second.empty()) state_.index.passing.erase(passing);
  }
  SlotFreed(run.slot, run.reservation, run.incarnation);
}

void IndexKeeper::SlotFreed(const SlotId& slot, const Reservation& reservation, const std::string& incarnation) {
  const auto server = state_.servers.find(slot.server);
  if (server == state_.servers.end() || server->second.incarnation != incarnation) return;
  ServerRoom& room = state_.index.rooms.at(slot.server);
  const bool had_idle = room.HasIdleSlot();
  room.Free(slot.index, reservation);
  if (!had_idle && room.HasIdleSlot()) ListIdle(server->second);
}

void IndexKeeper::StudyAdded(const Study& study) {
  Indexes& index = state_.index;
  FairKeeper(state_).StudyAdded(study);
  TunerBegun(study);
  if (IsTimed(study.specification.stop)) index.timed_studies.insert(study.id);
  if (study.specification.policy.may_stop) index.studies_that_may_stop.insert(study.id);
  if (study.specification.policy.deadline) index.studies_with_deadline.insert(study.id);
  if (const auto& reference = study.specification.reference) ++index.references_in_use[*reference];
  const CheckKey key = CheckKeyOf(study);
  if (IsChecked(study) && !state_.check_findings.contains(key)) index.checks_wanted[key].insert(study.id);
}

void IndexKeeper::StudyFinished(const Study& study) {
  Indexes& index = state_.index;
  index.timed_studies.erase(study.id);
  index.studies_that_may_stop.erase(study.id);
  index.studies_with_deadline.erase(study.id);
  index.fair_share.FinishStudy(study.id);
  if (const auto begun_with = index.begun_with.extract(study.id)) {
    for (const auto& [point, plan] : begun_with.mapped()) CacheKeeper(state_).CountKept(plan, point, -1);
  }
  if (const auto& reference = study.specification.reference) {
    if (--index.references_in_use[*reference] == 0) index.references_in_use.erase(*reference);
  }
  const auto wanted = index.checks_wanted.find(CheckKeyOf(study));
  if (wanted == index.checks_wanted.end()) return;
  wanted->second.erase(study.id);
  if (wanted->second.empty()) index.checks_wanted.erase(wanted);
}

void IndexKeeper::TunerBegun(const Study& study) {
  if (study.closing) return;
  if (!study.specification.tuner.empty()) state_.index.tuned_studies.insert(study.id);
  ListToAsk(study, true);
}

void IndexKeeper::TunerEnded(const Study& study) {
  state_.index.tuned_studies.erase(study.id);
  ListToAsk(study, false);
}

void IndexKeeper::ListToAsk(const Study& study, bool may_be_asked) {
  if (!study.specification.asks_for_idle_slots) return;
  const OfferKind kind{TrainerDigest(study.training), study.device_kind, ""};
  std::set<StudyId>& studies = state_.index.tuners_to_ask[kind];
  if (may_be_asked && !study.closing) {
    studies.insert(study.id);
  } else {
    studies.erase(study.id);
  }
  if (studies.empty()) state_.index.tuners_to_ask.erase(kind);
}

void IndexKeeper::ServerSet(const Server* before, const Server& server) {
  const std::optional<SessionId> session = before == nullptr ? std::nullopt : before->session;
  if (session != server.session) {
    if (session) state_.index.server_of_session.erase(*session);
    if (server.session) state_.index.server_of_session[*server.session] = server.name;
  }
  const bool has_other_slots =
      before == nullptr || before->incarnation != server.incarnation || before->devices != server.devices;
  if (has_other_slots) SetRoom(server);
  if (!has_other_slots && session == server.session && before->offers == server.offers &&
      before->stopping == server.stopping) {
    return;
  }
  if (before != nullptr) UnlistIdle(*before);
  ListIdle(server);
}

void IndexKeeper::DrainSet(const std::string& name) {
  const auto server = state_.servers.find(name);
  if (server == state_.servers.end()) return;
  UnlistIdle(server->second);
  ListIdle(server->second);
}

OfferKind IndexKeeper::KindOf(Digest128 trainer, const OfferMade& made) const {
  return {trainer, made.device_kind, state_.offers.at(made.offer).offer.evaluation_digest};
}

void IndexKeeper::ListIdle(const Server& server) {
  if (!server.session || IsDraining(state_, server) || !state_.index.rooms.at(server.name).HasIdleSlot()) return;
  for (const auto& [trainer, made] : server.offers) {
    state_.index.idle_servers[KindOf(trainer, made)].insert(server.name);
  }
}

void IndexKeeper::UnlistIdle(const Server& server) {
  for (const auto& [trainer, made] : server.offers) {
    const auto servers = state_.index.idle_servers.find(KindOf(trainer, made));
    if (servers == state_.index.idle_servers.end()) continue;
    servers->second.erase(server.name);
    if (servers->second.empty()) state_.index.idle_servers.erase(servers);
  }
}

void IndexKeeper::SetRoom(const Server& server) {
  ServerRoom room(server.devices, server.host_cores);
  if (const auto active = state_.index.active_runs.find(server.name); active != state_.index.active_runs.end()) {
    for (const RunId id : active->second) {
      const Run& run = state_.runs.at(id);
      if (run.training() && run.incarnation == server.incarnation) room.Take(run.slot.index, run.reservation);
    }
  }
  for (const auto& [key, place] : state_.checks) {
    if (place.slot.server != server.name || place.incarnation != server.incarnation) continue;
    room.Take(place.slot.index, place.reservation);
  }
  state_.index.rooms.insert_or_assign(server.name, std::move(room));
}

void IndexKeeper::ServerRemoved(const Server& server) {
  UnlistIdle(server);
  state_.index.rooms.erase(server.name);
  if (server.session) state_.index.server_of_session.erase(*server.session);
}

void IndexKeeper::Reestimate(const SearchPlan& plan, PlanNodeId node) {
  const auto needs = state_.index.needs.find(plan.id);
  if (needs == state_.index.needs.end() || !needs->second.nodes().contains(node)) return;
  EditNeeds(plan, [&](NeedEditor& editor) { editor.Reestimate(node); });
}

void IndexKeeper::ReestimateSome(int count) {
  auto& estimated = state_.index.estimated;
  count = std::min(count, static_cast<int>(estimated.size()));
  for (; count > 0; --count) {
    const EstimatedNode next = estimated.front();
    estimated.pop_front();
    if (next.guessed && --state_.index.guessed.at(next.plan) == 0) state_.index.guessed.erase(next.plan);
    const SearchPlan& plan = state_.plans.at(next.plan);
    if (!state_.index.needs.at(next.plan).nodes().contains(next.node)) continue;
    if (MeasurementOf(plan.Node(next.node), CostKind::kStep).count > 0) continue;
    NoteEstimated(plan, next.node);
    Reestimate(plan, next.node);
  }
}

}  // namespace espalier::master
