#include "master/core/nodes/ordering.h"

#include <utility>

#include "base/check.h"
#include "master/core/nodes/checks.h"
#include "master/core/nodes/may_start.h"
#include "master/core/nodes/needs.h"
#include "master/core/nodes/runs.h"
#include "master/core/nodes/state_view.h"
#include "master/core/nodes/trial_actions.h"
#include "master/core/settling.h"
#include "master/core/state/demand.h"
#include "master/core/state/usage.h"

namespace espalier::master {
namespace {

void Start(Draft& draft, const StartPath& start, const Reservation& reservation) {
  const MasterState& state = draft.state();
  const SearchPlan& plan = state.plans.at(start.plan);
  const Server& server = state.servers.at(start.slot.server);
  Run run;
  run.id = state.next.run;
  run.leadership = state.leadership;
  run.plan = start.plan;
  run.slot = start.slot;
  run.reservation = reservation;
  run.slots = ShareCountOf(server.devices[static_cast<std::size_t>(reservation.device)], reservation);
  run.incarnation = server.incarnation;
  run.offer = server.offers.at(plan.trainer).offer;
  run.evaluation = state.offers.at(run.offer).offer.evaluation_digest;
  if (start.source.step > Step{0}) {
    run.start = start.source;
    run.start_file = plan.FindCheckpoint(start.source)->file;
  }
  if (start.first) run.path = state.index.needs.at(plan.id).BestPath(plan, start.source, *start.first, start.one_stage);
  run.state = Training{start.source.step};
  run.ordered_at = run.charged_to = draft.now;
  PromiseId next = state.next.promise;
  for (const PromisedAt& promise : PromisesAlong(state, run, draft.settings)) {
    run.promises.emplace(next, Promise{.id = next, .step = promise.step, .owed = promise.owed, .made_at = draft.now});
    ++next.value;
  }
  ESPALIER_CHECK(!run.promises.empty()) << "a path of plan " << start.plan.value << " is ready that nothing needs";
  draft.Log(LogLevel::kInfo, "run started",
            {{"run", run.id},
             {"plan", run.plan},
             {"slot", server.name + "/" + std::to_string(run.slot.index)},
             {"slots", run.slots},
             {"from", run.at()},
             {"to", run.path.empty() ? run.at() : run.path.back().to}});
  const RunId id = run.id;
  draft.Do(AddRun{std::move(run)});
  draft.Do(ChargeRun{id, draft.now, {}, StudiesServed(draft.state(), draft.state().runs.at(id))});
  MeetNeeds(draft, start.plan);
}

// What is reserved for it: what it asks for, or as many shares of the slot's device as it is known to take. None: there
// is no such slot, or that is not left of it, or too little.
std::optional<Reservation> ReservationFor(const MasterState& state, const StartPath& start, const Demand& demand) {
  const auto room = state.index.rooms.find(start.slot.server);
  if (room == state.index.rooms.end()) return std::nullopt;
  const std::vector<Device>& devices = state.servers.at(start.slot.server).devices;
  const std::optional<DeviceSlot> at = FindSlot(devices, start.slot.index);
  if (!at) return std::nullopt;
  const Device& device = devices[static_cast<std::size_t>(at->device)];
  const int shares = SharesFor(device, demand);
  if (shares == 0) return std::nullopt;
  const Reservation wanted = start.reservation.value_or(SharesOf(device, at->device, shares));
  if (!CheckReservation(devices, start.slot.index, wanted).has_value() || !Suffices(wanted, device, demand)) {
    return std::nullopt;
  }
  return room->second.Fits(start.slot.index, wanted) ? std::optional(wanted) : std::nullopt;
}

// What is reserved for it. None: no state stands there that the path can start from, or that is to be evaluated; or the
// slot may not be given it.
std::optional<Reservation> CanStart(const Draft& draft, const StartPath& start) {
  const MasterState& state = draft.state();
  const auto server = state.servers.find(start.slot.server);
  const auto plan = state.plans.find(start.plan);
  if (server == state.servers.end() || !server->second.session || IsDraining(state, server->second)) return {};
  if (plan == state.plans.end() || !state.index.needs.contains(start.plan)) return {};
  if (AwaitsCheck(state, plan->second)) return {};
  const OfferMade* made = OfferOf(server->second, plan->second.trainer, plan->second.identity.device_kind);
  if (made == nullptr) return {};
  const NeedIndex& needs = state.index.needs.at(start.plan);
  StageBeginning beginning;
  Demand demand;
  if (start.first) {
    const Place* source = needs.Find(start.source);
    if (source == nullptr || !source->stored || !source->successors.contains(*start.first)) return {};
    if (IsHeldBack(state, needs, {start.source, *start.first})) return {};
    beginning = {{*start.first, start.source.step}, ""};
    demand = DemandAlong(state, plan->second, start.source, *start.first);
  } else {
    const std::string& evaluation = state.offers.at(made->offer).offer.evaluation_digest;
    if (!needs.ready_evaluations().contains({evaluation, start.source})) return {};
    if (IsHeldBack(state, plan->second, {evaluation, start.source})) return {};
    beginning = {start.source, evaluation};
  }
  if (!MayStart(draft, server->second, plan->second, beginning, demand)) return {};
  return ReservationFor(state, start, demand);
}

// Says whether it could be done.
struct Carrier {
  Draft& draft;

  bool operator()(const StartPath& start) const {
    const std::optional<Reservation> reservation = CanStart(draft, start);
    if (reservation) Start(draft, start, *reservation);
    return reservation.has_value();
  }

  bool operator()(const PreemptRun& preempt) const {
    const auto run = draft.state().runs.find(preempt.run);
    if (run == draft.state().runs.end() || !CanPreempt(draft.state(), run->second)) return false;
    Preempt(draft, preempt.run);
    return true;
  }

  bool operator()(const ReleaseTrial& release) const { return Release(draft, release); }
  bool operator()(const ClaimStep& claim) const { return ClaimOf(draft, claim); }
  bool operator()(const LabelTrial& label) const { return Label(draft, label); }
  bool operator()(const AnalyseCurve& analyse) const { return Analyse(draft, analyse); }
};

// Tells it what has happened since it was told last, and asks.
std::optional<Action> NextAction(Draft& draft, const View& view) {
  for (const PolicyEvent& event : std::exchange(draft.touched.for_policy, {})) draft.policy.Take(event, view);
  for (const ReadyWork& work : draft.TakeWorkChanged()) draft.policy.Take(WorkChanged{work}, view);
  return draft.policy.Decide(view, draft.now);
}

// O(actions x what they change).
void AskPolicy(Draft& draft) {
  const std::unique_ptr<View> view = StateViewOf(draft);
  while (const std::optional<Action> action = NextAction(draft, *view)) {
    if (std::visit(Carrier{draft}, *action)) continue;
    draft.Log(LogLevel::kWarning, "what the policy wants cannot be done",
              {{"policy", std::string(draft.policy.name())}, {"action", Print(*action)}});
    return;
  }
}

// Of the studies for which slots are idle, now that all that can be done is ordered; none of who is stopped. O(those
// that are asked + kinds of offers that others wait for).
void AskTuners(Draft& draft) {
  std::vector<StudyId> asked;
  for (const auto& [kind, studies] : draft.state().index.tuners_to_ask) {
    if (!IdleServers(draft.state(), kind).none()) asked.insert(asked.end(), studies.begin(), studies.end());
  }
  std::erase_if(asked, [&](StudyId study) { return IsStopped(draft.state(), study); });
  for (const StudyId study : asked) AppendEvent(draft, study, SlotIdle{});
}

}  // namespace

void OrderRuns(Draft& draft) {
  const std::set<PlanId> plans = draft.touched.plans;
  for (const PlanId plan : plans) MeetNeeds(draft, plan);
  EndChecks(draft);
  PlaceUrgentChecks(draft);
  AskPolicy(draft);
  PlaceOtherChecks(draft);
  AskTuners(draft);
}

void TellPolicy(Draft& draft) {
  if (!draft.touched.for_policy.empty()) AskPolicy(draft);
}

}  // namespace espalier::master
