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

namespace espalier::master {
namespace {

void Start(Draft& draft, const StartPath& start) {
  const MasterState& state = draft.state();
  const SearchPlan& plan = state.plans.at(start.plan);
  const Server& server = state.servers.at(start.slot.server);
  Run run;
  run.id = state.next.run;
  run.leadership = state.leadership;
  run.plan = start.plan;
  run.slot = start.slot;
  run.slots = start.slots;
  run.reservation = ReservationOf(server.devices, start.slot.index, start.slots);
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

// Whether the slots are there, idle, and of one device; which that is.
const Device* IdleDevice(const MasterState& state, const StartPath& start) {
  const auto idle = state.index.idle_slots.find(start.slot.server);
  if (idle == state.index.idle_slots.end() || start.slots < 1) return nullptr;
  const std::vector<Device>& devices = state.servers.at(start.slot.server).devices;
  const std::optional<DeviceSlot> at = FindSlot(devices, start.slot.index);
  if (!at) return nullptr;
  const Device& device = devices[static_cast<std::size_t>(at->device)];
  if (at->index + start.slots > device.slots) return nullptr;
  for (int i = 0; i < start.slots; ++i) {
    if (!idle->second.contains(start.slot.index + i)) return nullptr;
  }
  return &device;
}

bool Suffices(int slots, const Device& device, const Demand& demand) {
  const int needed = SlotsFor(device, demand);
  return needed > 0 && needed <= slots;
}

// Whether a state stands there that the path can start from, or that is to be evaluated, and the slot may be given it.
bool CanStart(const Draft& draft, const StartPath& start) {
  const MasterState& state = draft.state();
  const Device* device = IdleDevice(state, start);
  const auto plan = state.plans.find(start.plan);
  if (device == nullptr) return false;
  if (plan == state.plans.end() || !state.index.needs.contains(start.plan)) return false;
  if (AwaitsCheck(state, plan->second)) return false;
  const Server& server = state.servers.at(start.slot.server);
  const OfferMade* made = OfferOf(server, plan->second.trainer, plan->second.identity.device_kind);
  if (!server.session || IsDraining(state, server) || made == nullptr) return false;
  const NeedIndex& needs = state.index.needs.at(start.plan);
  if (start.first) {
    const Place* source = needs.Find(start.source);
    if (source == nullptr || !source->stored || !source->successors.contains(*start.first)) return false;
    const Demand demand = DemandAlong(state, plan->second, start.source, *start.first);
    return MayStart(draft, server, plan->second, {{*start.first, start.source.step}, ""}, demand) &&
           Suffices(start.slots, *device, demand);
  }
  const std::string& evaluation = state.offers.at(made->offer).offer.evaluation_digest;
  return needs.ready_evaluations().contains({evaluation, start.source}) &&
         MayStart(draft, server, plan->second, {start.source, evaluation}, {});
}

// Says whether it could be done.
struct Carrier {
  Draft& draft;

  bool operator()(const StartPath& start) const {
    if (!CanStart(draft, start)) return false;
    Start(draft, start);
    return true;
  }

  bool operator()(const PreemptRun& preempt) const {
    const auto run = draft.state().runs.find(preempt.run);
    if (run == draft.state().runs.end() || !CanPreempt(draft.state(), run->second)) return false;
    Preempt(draft, preempt.run);
    return true;
  }

  bool operator()(const ReleaseTrial& release) const { return Release(draft, release); }
  bool operator()(const LabelTrial& label) const { return Label(draft, label); }
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

// Of the studies for which slots are idle, now that all that can be done is ordered. O(those that are asked + kinds of
// offers that others wait for).
void AskTuners(Draft& draft) {
  std::vector<StudyId> asked;
  for (const auto& [kind, studies] : draft.state().index.tuners_to_ask) {
    if (!IdleServers(draft.state(), kind).none()) asked.insert(asked.end(), studies.begin(), studies.end());
  }
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
