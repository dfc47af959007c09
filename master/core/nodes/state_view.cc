#include "master/core/nodes/state_view.h"

#include <algorithm>
#include <iterator>

#include "master/core/nodes/contests.h"
#include "master/core/nodes/may_start.h"
#include "master/core/nodes/rooms.h"
#include "master/core/nodes/runs.h"
#include "master/core/nodes/trials_in_view.h"
#include "master/core/state/demand.h"
#include "master/core/state/trainer_check.h"

namespace espalier::master {
namespace {

// Paths that wait for several slots of a device are passed over by lesser ones, up to so many at a time.
constexpr int kPassedOverMax = 256;

class StateView : public TrialsInView {
 public:
  explicit StateView(const Draft& draft) : TrialsInView(draft.state()), draft_(draft) {}

  std::optional<StartPath> BestStart() const override {
    if (auto evaluation = BestEvaluation()) return evaluation;
    return BestTraining();
  }

  std::optional<StartPath> BestEvaluation() const override {
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

  std::vector<ReadyWork> Ready() const override {
    std::vector<ReadyWork> ready;
    for (const auto& [plan, needs] : state().index.needs) {
      for (const ReadyPath& path : needs.ready_paths()) {
        for (const auto& [first, totals] : needs.Find(path.source)->successors) {
          ready.push_back({plan, path.source, first});
        }
      }
    }
    std::ranges::sort(ready);
    return ready;
  }

  bool IsReady(const ReadyWork& work) const override {
    const auto needs = state().index.needs.find(work.plan);
    return needs != state().index.needs.end() && needs->second.IsReady({work.source, work.first});
  }

  std::optional<StartPath> StartOf(const ReadyWork& work) const override {
    const SearchPlan& plan = state().plans.at(work.plan);
    const IdleServers servers(state(), KindOf(plan));
    if (servers.none() || AwaitsCheck(state(), plan)) return std::nullopt;
    Held held;
    return StartAt(plan, work.source, work.first, servers, held);
  }

  std::string PoolOf(PlanId id) const override {
    const SearchPlan& plan = state().plans.at(id);
    return ToHex(plan.trainer) + " on " + plan.identity.device_kind;
  }

  bool HasIdleSlot(PlanId plan) const override { return !IdleServers(state(), KindOf(state().plans.at(plan))).none(); }

  std::int64_t SlotCount() const override {
    std::int64_t count = 0;
    for (const auto& [name, server] : state().servers) {
      if (!server.session) continue;
      for (const Device& device : server.devices) count += device.slots;
    }
    return count;
  }

  Seconds SwitchingTime(RunId run) const override { return MeasuredSwitchingTime(state(), state().runs.at(run)); }

  std::vector<RunId> Runs() const override {
    std::vector<RunId> runs;
    std::ranges::copy_if(state().active_runs, std::back_inserter(runs),
                         [&](RunId id) { return state().runs.at(id).training(); });
    return runs;
  }

  std::optional<RunView> Run(RunId id) const override {
    const auto run = state().runs.find(id);
    if (run == state().runs.end() || !run->second.training()) return std::nullopt;
    return ViewOf(run->second);
  }

  bool CanPreempt(RunId id) const override {
    const auto run = state().runs.find(id);
    return run != state().runs.end() && master::CanPreempt(state(), run->second);
  }

  std::size_t LeavingFor(PlanId plan) const override {
    const OfferKind kind = KindOf(state().plans.at(plan));
    return static_cast<std::size_t>(std::ranges::count_if(state().active_runs, [&](RunId id) {
      const master::Run& run = state().runs.at(id);
      return run.training() && run.preempt && KindOf(state().plans.at(run.plan)) == kind;
    }));
  }

  std::vector<RunView> Preemptible() const override {
    std::vector<RunView> runs;
    for (const RunId id : state().active_runs) {
      const master::Run& run = state().runs.at(id);
      if (master::CanPreempt(state(), run)) runs.push_back(ViewOf(run));
    }
    return runs;
  }

  std::vector<Contest> Contests() const override { return ContestsOf(state(), draft_.now); }

 private:
  const MasterState& state() const { return draft_.state(); }

  static OfferKind KindOf(const SearchPlan& plan) { return {plan.trainer, plan.identity.device_kind, ""}; }

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
      const IdleServers servers(state(), KindOf(plan));
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
      if (auto start = StartAt(plan, ready->source, ready->first, servers, held)) return start;
      const bool takes_several = DemandAlong(state(), plan, ready->source, ready->first) != Demand{};
      if (takes_several && ++passed_over == kPassedOverMax) return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<StartPath> StartAt(const SearchPlan& plan, Point source, PlanNodeId first, const IdleServers& servers,
                                   Held& held) const {
    const Demand demand = DemandAlong(state(), plan, source, first);
    const auto room = RoomFor(plan, {{first, source.step}, ""}, demand, servers, held);
    if (!room) return std::nullopt;
    return StartPath{plan.id, source, first, room->slot, room->slots};
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

}  // namespace

std::unique_ptr<View> StateViewOf(const Draft& draft) { return std::make_unique<StateView>(draft); }

}  // namespace espalier::master
