#include "master/core/nodes/state_view.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "master/core/nodes/contests.h"
#include "master/core/nodes/may_start.h"
#include "master/core/nodes/rooms.h"
#include "master/core/nodes/runs.h"
#include "master/core/nodes/trials_in_view.h"
#include "master/core/state/demand.h"
#include "master/core/state/prices.h"
#include "master/core/state/trainer_check.h"
#include "master/core/state/usage.h"

namespace espalier::master {
namespace {

// Paths that wait for several slots of a device are passed over by lesser ones, up to so many at a time.
constexpr int kPassedOverMax = 256;

class StateView : public TrialsInView {
 public:
  explicit StateView(const Draft& draft) : TrialsInView(draft.state()), draft_(draft) {}

  std::optional<StartPath> BestStart() const override { return BestStartExcept({}); }

  std::optional<StartPath> BestStartExcept(const std::set<StudyId>& studies) const override {
    if (auto evaluation = BestEvaluation()) return evaluation;
    return BestTraining(studies);
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
          if (IsHeldBack(state(), plan, *it)) continue;
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
          if (!IsHeldBack(state(), needs, {path.source, first})) ready.push_back({plan, path.source, first});
        }
      }
    }
    std::ranges::sort(ready);
    return ready;
  }

  bool IsReady(const ReadyWork& work) const override {
    const auto needs = state().index.needs.find(work.plan);
    const StageAt stage{work.source, work.first};
    return needs != state().index.needs.end() && needs->second.IsReady(stage) &&
           !IsHeldBack(state(), needs->second, stage);
  }

  std::optional<StartPath> StartOf(const ReadyWork& work) const override {
    const SearchPlan& plan = state().plans.at(work.plan);
    const IdleServers servers(state(), KindOf(plan));
    if (servers.none() || AwaitsCheck(state(), plan)) return std::nullopt;
    Held held;
    return StartAt(plan, work.source, work.first, servers, held);
  }

  WorkEstimate EstimateOf(const ReadyWork& work) const override {
    const SearchPlan& plan = state().plans.at(work.plan);
    const NeedIndex& needs = state().index.needs.at(work.plan);
    const Place& source = *needs.Find(work.source);
    WorkEstimate estimate{.longest = SecondsOfMicroseconds(source.successors.at(work.first).longest)};
    for (const PathStage& stage : needs.BestPath(plan, work.source, work.first)) {
      NodePrices prices = PricesOf(state(), plan, plan.Node(stage.node));
      const auto most = [&](CostKind kind, double before) {
        return std::max(before, prices.Estimate(kind).value_or(0));
      };
      const double utilization = most(CostKind::kUtilization, estimate.utilization.value_or(0));
      if (utilization > 0) estimate.utilization = static_cast<int>(std::ceil(std::min(utilization, 1000.0)));
      estimate.memory_bytes =
          static_cast<std::int64_t>(most(CostKind::kMemory, static_cast<double>(estimate.memory_bytes)));
      estimate.device_memory_bytes =
          static_cast<std::int64_t>(most(CostKind::kDeviceMemory, static_cast<double>(estimate.device_memory_bytes)));
    }
    estimate.least = DemandAlong(state(), plan, work.source, work.first);
    return estimate;
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

  std::vector<std::string> ServersFor(PlanId id) const override {
    const SearchPlan& plan = state().plans.at(id);
    std::vector<std::string> names;
    for (const auto& [name, server] : state().servers) {
      const bool serves = server.session && !IsDraining(state(), server) &&
                          OfferOf(server, plan.trainer, plan.identity.device_kind) != nullptr;
      if (serves) names.push_back(name);
    }
    return names;
  }

  const ServerRoom* RoomOf(const std::string& server) const override {
    const auto room = state().index.rooms.find(server);
    return room == state().index.rooms.end() ? nullptr : &room->second;
  }

  bool MayStart(const ReadyWork& work, const std::string& server) const override {
    const SearchPlan& plan = state().plans.at(work.plan);
    return !AwaitsCheck(state(), plan) &&
           master::MayStart(draft_, state().servers.at(server), plan, {{work.first, work.source.step}, ""},
                            DemandAlong(state(), plan, work.source, work.first));
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

  std::optional<Step> StepOf(RunId id) const override {
    const auto run = state().runs.find(id);
    if (run == state().runs.end() || !run->second.training()) return std::nullopt;
    return run->second.at();
  }

  bool CanPreempt(RunId id) const override {
    const auto run = state().runs.find(id);
    return run != state().runs.end() && master::CanPreempt(state(), run->second);
  }

  std::vector<RunId> Saving() const override {
    std::vector<RunId> saving;
    std::ranges::copy_if(state().active_runs, std::back_inserter(saving),
                         [&](RunId id) { return !state().runs.at(id).training(); });
    return saving;
  }

  std::optional<SlotId> SavesFrom(RunId id) const override {
    const auto run = state().runs.find(id);
    const bool saves = run != state().runs.end() && !run->second.training() && !run->second.ended();
    return saves ? std::optional(run->second.slot) : std::nullopt;
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
    return {server.name, state().index.rooms.at(server.name).FirstIdleSlot().value()};
  }

  // Of those that may begin it and that satisfy the predicate; one that has refused it, if no other does.
  template <class Predicate>
  const Server* FirstThatMay(const IdleServers& servers, const SearchPlan& plan, const StageBeginning& beginning,
                             const Demand& demand, const Predicate& has_room) const {
    const auto may = [&](const Server& server) {
      return master::MayStart(draft_, server, plan, beginning, demand) && has_room(server);
    };
    const auto* refusals = RefusalsOf(state(), beginning);
    const Server* first = nullptr;
    if (refusals != nullptr) {
      first = servers.First([&](const Server& server) { return !refusals->contains(server.name) && may(server); });
    }
    return first != nullptr ? first : servers.First(may);
  }

  // For the study that is due first; what is best for it.
  std::optional<StartPath> BestTraining(const std::set<StudyId>& but) const {
    const auto& wanted = state().index.ready_plans;
    const bool none_is_idle =
        std::ranges::all_of(wanted, [&](const auto& entry) { return IdleServers(state(), entry.first).none(); });
    if (none_is_idle) return std::nullopt;
    Held held;
    return state().index.fair_share.FirstDue([&](StudyId study) -> std::optional<StartPath> {
      return but.contains(study) ? std::nullopt : BestFor(study, held);
    });
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
    const auto slot = SlotFor(plan, {{first, source.step}, ""}, demand, servers, held);
    return slot ? std::optional(StartPath{plan.id, source, first, *slot}) : std::nullopt;
  }

  std::optional<SlotId> SlotFor(const SearchPlan& plan, const StageBeginning& beginning, const Demand& demand,
                                const IdleServers& servers, Held& held) const {
    Rooms rooms(state(), demand, held);
    FirstThatMay(servers, plan, beginning, demand, [&](const Server& server) { return rooms.Look(server); });
    if (!rooms.slot() && rooms.fullest()) held[rooms.fullest()->server].insert(rooms.fullest()->device);
    return rooms.slot();
  }

  const Draft& draft_;
};

}  // namespace

std::unique_ptr<View> StateViewOf(const Draft& draft) { return std::make_unique<StateView>(draft); }

}  // namespace espalier::master
