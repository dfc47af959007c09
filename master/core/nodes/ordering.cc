#include "master/core/nodes/ordering.h"

#include <algorithm>

#include "base/check.h"
#include "master/core/nodes/needs.h"

namespace espalier::master {
namespace {

// Something that a slot can be given now.
struct Work {
  PlanId plan;
  Point source;                 // where it starts; step 0 of a root: Init
  std::vector<PathStage> path;  // empty: the state at `source` is evaluated
};

bool IsPaused(const Draft& draft, const StageBeginning& beginning) {
  const auto pause = draft.state().pauses.find(beginning);
  return pause != draft.state().pauses.end() && pause->second.until > draft.now;
}

// Whether another connected server offers what this one does for the plan; and, for a stage that only evaluates, by
// that evaluation.
bool OffersElsewhere(const MasterState& state, const Server& server, Digest128 trainer, const std::string& evaluation) {
  return std::any_of(state.servers.begin(), state.servers.end(), [&](const auto& entry) {
    const Server& other = entry.second;
    if (other.name == server.name || !other.session || other.device_kind != server.device_kind) return false;
    const auto offer = other.offers.find(trainer);
    if (offer == other.offers.end()) return false;
    return evaluation.empty() || state.offers.at(offer->second).offer.evaluation_digest == evaluation;
  });
}

// A stage is not ordered while a failure pauses it, nor again on the one server on which it crashed, if another offers
// the same.
bool MayStart(const Draft& draft, const Server& server, const SearchPlan& plan, const StageBeginning& beginning) {
  if (IsPaused(draft, beginning)) return false;
  const auto pause = draft.state().pauses.find(beginning);
  if (pause == draft.state().pauses.end() || pause->second.avoid != server.name) return true;
  return !OffersElsewhere(draft.state(), server, plan.trainer, beginning.second);
}

std::optional<Work> EvaluationFor(const Draft& draft, const Server& server) {
  const MasterState& state = draft.state();
  for (const PlanId id : state.index.plans_to_evaluate) {
    const SearchPlan& plan = state.plans.at(id);
    const auto offer = server.offers.find(plan.trainer);
    if (offer == server.offers.end() || plan.identity.device_kind != server.device_kind) continue;
    const std::string& evaluation = state.offers.at(offer->second).offer.evaluation_digest;
    const std::set<ReadyEvaluation>& ready = state.index.needs.at(id).ready_evaluations();
    for (auto it = ready.lower_bound({evaluation, {}}); it != ready.end() && it->evaluation == evaluation; ++it) {
      if (MayStart(draft, server, plan, {it->point, evaluation})) return Work{id, it->point, {}};
    }
  }
  return std::nullopt;
}

// The best path of the plan that this server may start.
std::optional<Work> PathOf(const Draft& draft, const Server& server, const SearchPlan& plan) {
  const NeedIndex& needs = draft.state().index.needs.at(plan.id);
  for (const ReadyPath& ready : needs.ready_paths()) {
    for (const RankedSuccessor& first : needs.Find(ready.source)->order) {
      if (!MayStart(draft, server, plan, {{first.node, ready.source.step}, ""})) continue;
      return Work{plan.id, ready.source, needs.BestPath(plan, ready.source, first.node)};
    }
  }
  return std::nullopt;
}

// The best of all plans that the server may train. O(offers log plans), and more only where failures pause the best.
std::optional<Work> TrainingFor(const Draft& draft, const Server& server) {
  const MasterState& state = draft.state();
  std::optional<RankedPlan> best;
  std::optional<Work> work;
  for (const auto& [trainer, offer] : server.offers) {
    const auto pool = state.index.ready_plans.find({trainer, server.device_kind});
    if (pool == state.index.ready_plans.end()) continue;
    for (const RankedPlan& ranked : pool->second) {
      if (best && *best < ranked) break;
      if (auto path = PathOf(draft, server, state.plans.at(ranked.plan))) {
        best = ranked;
        work = std::move(path);
        break;
      }
    }
  }
  return work;
}

void Start(Draft& draft, const Server& server, int slot, const Work& work) {
  const MasterState& state = draft.state();
  const SearchPlan& plan = state.plans.at(work.plan);
  Run run;
  run.id = state.next.run;
  run.leadership = state.leadership;
  run.plan = work.plan;
  run.slot = {server.name, slot};
  run.incarnation = server.incarnation;
  run.offer = server.offers.at(plan.trainer);
  run.evaluation = state.offers.at(run.offer).offer.evaluation_digest;
  if (work.source.step > Step{0}) {
    run.start = work.source;
    run.start_file = plan.FindCheckpoint(work.source)->file;
  }
  run.path = work.path;
  run.state = Training{work.source.step};
  run.ordered_at = run.charged_to = draft.now;
  PromiseId next = state.next.promise;
  for (const PromisedAt& promise : PromisesAlong(state, run)) {
    run.promises.emplace(next, Promise{.id = next, .step = promise.step, .owed = promise.owed, .made_at = draft.now});
    ++next.value;
  }
  ESPALIER_CHECK(!run.promises.empty()) << "a path of plan " << work.plan.value << " is ready that nothing needs";
  draft.Log(LogLevel::kInfo, "run started",
            {{"run", run.id},
             {"plan", run.plan},
             {"slot", server.name + "/" + std::to_string(slot)},
             {"from", run.at()},
             {"to", run.path.empty() ? run.at() : run.path.back().to}});
  const RunId id = run.id;
  draft.Do(AddRun{std::move(run)});
  draft.Do(ChargeRun{id, draft.now, {}, StudiesServed(draft.state(), draft.state().runs.at(id))});
  MeetNeeds(draft, work.plan);
}

// Gives idle slots what is best for them, evaluations of what stands first. O(idle servers + runs started x depth).
void HandOut(Draft& draft) {
  const Indexes& index = draft.state().index;
  if (index.ready_plans.empty() && index.plans_to_evaluate.empty()) return;
  const auto idle = index.idle_slots;
  for (const auto& [name, slots] : idle) {
    const auto server = draft.state().servers.find(name);
    if (server == draft.state().servers.end() || !server->second.session) continue;
    for (const int slot : slots) {
      std::optional<Work> work = EvaluationFor(draft, server->second);
      if (!work) work = TrainingFor(draft, server->second);
      if (!work) break;
      Start(draft, server->second, slot, *work);
    }
  }
}

}  // namespace

void OrderRuns(Draft& draft) {
  const std::set<PlanId> plans = draft.touched.plans;
  for (const PlanId plan : plans) MeetNeeds(draft, plan);
  if (draft.touched.work) HandOut(draft);
}

}  // namespace espalier::master
