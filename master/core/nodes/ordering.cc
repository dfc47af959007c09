#include "master/core/nodes/ordering.h"

#include <algorithm>

#include "base/check.h"
#include "master/core/nodes/checks.h"
#include "master/core/nodes/contests.h"
#include "master/core/nodes/needs.h"
#include "master/core/nodes/runs.h"
#include "master/core/nodes/trial_actions.h"
#include "master/core/nodes/trials_in_view.h"
#include "master/core/settling.h"
#include "master/core/state/demand.h"

namespace espalier::master {
namespace {

bool IsPaused(const Draft& draft, const StageBeginning& beginning) {
  const Pause* pause = LongestPause(draft.state(), beginning);
  return pause != nullptr && pause->until > draft.now;
}

// By server; null: nobody did.
const std::map<std::string, Refusal>* RefusalsOf(const MasterState& state, const StageBeginning& beginning) {
  const auto refusals = state.refusals.find(beginning);
  return refusals == state.refusals.end() ? nullptr : &refusals->second;
}

bool IsRefused(const Draft& draft, const Server& server, const StageBeginning& beginning) {
  const auto* refusals = RefusalsOf(draft.state(), beginning);
  if (refusals == nullptr) return false;
  const auto here = refusals->find(server.name);
  return here != refusals->end() && here->second.until > draft.now;
}

// Whether another connected server could begin it: it offers what this one does for the plan (and, for a stage that
// only evaluates, by that evaluation), has not refused it lately, and has a device of what it demands. O(servers x
// devices).
bool CanBeginElsewhere(const Draft& draft, const Server& server, const SearchPlan& plan,
                       const StageBeginning& beginning, const Demand& demand) {
  const MasterState& state = draft.state();
  const std::string& evaluation = beginning.second;
  return std::any_of(state.servers.begin(), state.servers.end(), [&](const auto& entry) {
    const Server& other = entry.second;
    if (other.name == server.name || !other.session || IsDraining(state, other)) return false;
    const OfferMade* made = OfferOf(other, plan.trainer, plan.identity.device_kind);
    if (made == nullptr || IsRefused(draft, other, beginning) || !Has(other, demand)) return false;
    return evaluation.empty() || state.offers.at(made->offer).offer.evaluation_digest == evaluation;
  });
}

}  // namespace

bool MayStart(const Draft& draft, const Server& server, const SearchPlan& plan, const StageBeginning& beginning,
              const Demand& demand) {
  if (IsPaused(draft, beginning) || IsRefused(draft, server, beginning)) return false;
  const Pause* pause = LongestPause(draft.state(), beginning);
  if (pause == nullptr || pause->avoid != server.name) return true;
  return !CanBeginElsewhere(draft, server, plan, beginning, demand);
}

bool HasIdleSlot(const MasterState& state, const OfferKind& kind) {
  const auto idle = state.index.idle_servers.lower_bound({kind.trainer, kind.device_kind, ""});
  return idle != state.index.idle_servers.end() && idle->first.trainer == kind.trainer &&
         idle->first.device_kind == kind.device_kind;
}

namespace {

// The servers with idle slots that offer what a kind asks for, whatever they evaluate by if that is left open.
class IdleServers {
 public:
  IdleServers(const MasterState& state, const OfferKind& kind) : state_(state), kind_(kind) {}

  bool none() const { return !Matches(state_.index.idle_servers.lower_bound(kind_)); }

  // The first that satisfies the predicate; null if none does. O(servers that do not).
  template <class Predicate>
  const Server* First(const Predicate& may) const {
    for (auto it = state_.index.idle_servers.lower_bound(kind_); Matches(it); ++it) {
      for (const std::string& name : it->second) {
        const Server& server = state_.servers.at(name);
        if (may(server)) return &server;
      }
    }
    return nullptr;
  }

 private:
  bool Matches(decltype(Indexes::idle_servers)::const_iterator it) const {
    if (it == state_.index.idle_servers.end()) return false;
    const OfferKind& offered = it->first;
    return offered.trainer == kind_.trainer && offered.device_kind == kind_.device_kind &&
           (kind_.evaluation.empty() || offered.evaluation == kind_.evaluation);
  }

  const MasterState& state_;
  const OfferKind& kind_;
};

// Devices by server, whose idle slots wait until there are enough of them for a path that takes several: no lesser path
// is given one.
using Held = std::set<std::pair<std::string, int>>;

// Paths that wait for such a device are passed over by lesser ones, up to so many at a time.
constexpr int kPassedOverMax = 256;

// Where a path that takes more than a slot can be trained, or could be once more slots of a device are idle.
class Rooms {
 public:
  Rooms(const MasterState& state, const Demand& demand, const Held& held)
      : state_(state), demand_(demand), held_(held) {}

  // O(slots of the server).
  bool Look(const Server& server) {
    int first = 0;
    for (int device = 0; device < std::ssize(server.devices) && !room_; ++device) {
      const Device& each = server.devices[static_cast<std::size_t>(device)];
      const int slots = SlotsFor(each, demand_);
      if (slots > 0 && !held_.contains({server.name, device})) LookAt(server, device, first, each.slots, slots);
      first += each.slots;
    }
    return room_.has_value();
  }

  struct Room {
    SlotId slot;
    int slots = 1;
  };
  const std::optional<Room>& room() const { return room_; }
  // Of those that have enough slots, the device with the most idle ones.
  const std::optional<Held::value_type>& fullest() const { return fullest_; }

 private:
  void LookAt(const Server& server, int device, int first, int count, int slots) {
    const std::set<int>& idle = state_.index.idle_slots.at(server.name);
    int idle_count = 0;
    int side_by_side = 0;
    int last = first - 2;
    for (auto slot = idle.lower_bound(first); slot != idle.end() && *slot < first + count; ++slot) {
      side_by_side = *slot == last + 1 ? side_by_side + 1 : 1;
      last = *slot;
      ++idle_count;
      if (side_by_side < slots) continue;
      room_ = Room{{server.name, last - slots + 1}, slots};
      return;
    }
    if (idle_count <= idle_most_) return;
    idle_most_ = idle_count;
    fullest_ = {server.name, device};
  }

  const MasterState& state_;
  const Demand& demand_;
  const Held& held_;
  std::optional<Room> room_;
  std::optional<Held::value_type> fullest_;
  int idle_most_ = 0;
};

class StateView : public TrialsInView {
 public:
  explicit StateView(const Draft& draft) : TrialsInView(draft.state()), draft_(draft) {}

  std::optional<StartPath> BestStart() const override {
    if (auto evaluation = BestEvaluation()) return evaluation;
    return BestTraining();
  }

  std::vector<RunView> Preemptible() const override {
    std::vector<RunView> runs;
    for (const RunId id : state().active_runs) {
      const Run& run = state().runs.at(id);
      if (CanPreempt(state(), run)) runs.push_back(ViewOf(run));
    }
    return runs;
  }

  std::vector<Contest> Contests() const override { return ContestsOf(state(), draft_.now); }

 private:
  const MasterState& state() const { return draft_.state(); }

  SlotId IdleSlotOf(const Server& server) const {
    return {server.name, *state().index.idle_slots.at(server.name).begin()};
  }

  // One that no better path waits for.
  std::optional<SlotId> IdleSlotOf(const Server& server, const Held& held) const {
    if (held.empty()) return IdleSlotOf(server);
    for (const int slot : state().index.idle_slots.at(server.name)) {
      if (!held.contains({server.name, FindSlot(server.devices, slot)->device})) return SlotId{server.name, slot};
    }
    return std::nullopt;
  }

  // Of those that may begin it and that satisfy the predicate; one that has refused it, if no other does.
  template <class Predicate>
  const Server* FirstThatMay(const IdleServers& servers, const SearchPlan& plan, const StageBeginning& beginning,
                             const Demand& demand, const Predicate& has_room) const {
    const auto may = [&](const Server& server) {
      return MayStart(draft_, server, plan, beginning, demand) && has_room(server);
    };
    const auto* refusals = RefusalsOf(state(), beginning);
    const Server* first = nullptr;
    if (refusals != nullptr) {
      first = servers.First([&](const Server& server) { return !refusals->contains(server.name) && may(server); });
    }
    return first != nullptr ? first : servers.First(may);
  }

  std::optional<StartPath> BestEvaluation() const {
    for (const auto& [kind, plans] : state().index.plans_to_evaluate) {
      const IdleServers servers(state(), kind);
      if (servers.none()) continue;
      for (const PlanId id : plans) {
        const SearchPlan& plan = state().plans.at(id);
        if (AwaitsCheck(state(), plan)) continue;
        const std::set<ReadyEvaluation>& ready = state().index.needs.at(id).ready_evaluations();
        for (auto it = ready.lower_bound({kind.evaluation, {}}); it != ready.end(); ++it) {
          if (it->evaluation != kind.evaluation) break;
          const Server* server =
              FirstThatMay(servers, plan, {it->point, kind.evaluation}, {}, [](const Server&) { return true; });
          if (server != nullptr) return StartPath{id, it->point, std::nullopt, IdleSlotOf(*server)};
        }
      }
    }
    return std::nullopt;
  }

  // For the study that is due first; what is best for it.
  std::optional<StartPath> BestTraining() const {
    const auto& wanted = state().index.ready_plans;
    const bool none_is_idle =
        std::ranges::all_of(wanted, [&](const auto& entry) { return IdleServers(state(), entry.first).none(); });
    if (none_is_idle) return std::nullopt;
    Held held;
    return state().index.fair_share.FirstDue([&](StudyId study) { return BestFor(study, held); });
  }

  std::optional<StartPath> BestFor(StudyId study, Held& held) const {
    for (const RankedPlan& ranked : state().index.ready_for.at(study)) {
      const SearchPlan& plan = state().plans.at(ranked.plan);
      const OfferKind kind{plan.trainer, plan.identity.device_kind, ""};
      const IdleServers servers(state(), kind);
      if (servers.none()) return std::nullopt;  // all plans of a study are of one kind
      if (AwaitsCheck(state(), plan)) continue;
      if (auto start = BestOf(plan, study, servers, held)) return start;
    }
    return std::nullopt;
  }

  std::optional<StartPath> BestOf(const SearchPlan& plan, StudyId study, const IdleServers& servers, Held& held) const {
    const NeedIndex& needs = state().index.needs.at(plan.id);
    int passed_over = 0;
    for (auto ready = needs.FirstReadyFor(study); ready != needs.ready_stages().end() && ready->study == study;
         ++ready) {
      const Demand demand = DemandAlong(state(), plan, ready->source, ready->first);
      const StageBeginning beginning{{ready->first, ready->source.step}, ""};
      if (auto room = RoomFor(plan, beginning, demand, servers, held)) {
        return StartPath{plan.id, ready->source, ready->first, room->slot, room->slots};
      }
      if (demand != Demand{} && ++passed_over == kPassedOverMax) return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Rooms::Room> RoomFor(const SearchPlan& plan, const StageBeginning& beginning, const Demand& demand,
                                     const IdleServers& servers, Held& held) const {
    if (demand == Demand{}) {
      std::optional<SlotId> slot;
      FirstThatMay(servers, plan, beginning, demand, [&](const Server& server) {
        slot = IdleSlotOf(server, held);
        return slot.has_value();
      });
      return slot ? std::optional(Rooms::Room{*slot}) : std::nullopt;
    }
    Rooms rooms(state(), demand, held);
    FirstThatMay(servers, plan, beginning, demand, [&](const Server& server) { return rooms.Look(server); });
    if (!rooms.room() && rooms.fullest()) held.insert(*rooms.fullest());
    return rooms.room();
  }

  const Draft& draft_;
};

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
  return draft.policy.Decide(view, draft.now);
}

// O(actions x what they change).
void AskPolicy(Draft& draft) {
  const StateView view(draft);
  while (const std::optional<Action> action = NextAction(draft, view)) {
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

}  // namespace espalier::master
