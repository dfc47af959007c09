#include "master/core/nodes/fair_share.h"

#include <algorithm>

#include "master/core/nodes/checks.h"
#include "master/core/nodes/contests.h"
#include "master/core/nodes/may_start.h"
#include "master/core/nodes/runs.h"

namespace espalier::master {
namespace {

constexpr Seconds kGivenMin{10};
constexpr double kGivenFactor = 10;
// If none of so many that are due finds room, those behind them are not asked.
constexpr int kAskedMax = 32;

// What a study could start next on one slot.
struct Waiting {
  StudyId study;
  const SearchPlan* plan;
  StageBeginning beginning;
};

// The best of it, behind what room is being made for already; none where a slot is idle: it is the policy's to give.
std::optional<Waiting> WaitingOf(const Draft& draft, StudyId study) {
  const MasterState& state = draft.state();
  int made_room_for = state.index.fair_share.MakingRoomFor(study);
  for (const RankedPlan& ranked : state.index.ready_for.at(study)) {
    const SearchPlan& plan = state.plans.at(ranked.plan);
    if (HasIdleSlot(state, {plan.trainer, plan.identity.device_kind, ""})) return std::nullopt;
    if (AwaitsCheck(state, plan)) continue;
    const NeedIndex& needs = state.index.needs.at(plan.id);
    for (auto ready = needs.FirstReadyFor(study); ready != needs.ready_stages().end() && ready->study == study;
         ++ready) {
      const StageBeginning beginning{{ready->first, ready->source.step}, ""};
      const Pause* pause = LongestPause(state, beginning);
      if (pause != nullptr && pause->until > draft.now) continue;
      if (DemandAlong(state, plan, ready->source, ready->first) != Demand{}) continue;
      if (made_room_for-- > 0) continue;
      return Waiting{study, &plan, beginning};
    }
  }
  return std::nullopt;
}

// For which a run has its slot before it is preempted for others.
Seconds LeastTimeOf(const MasterState& state, const Run& run) {
  return std::max(kGivenMin, kGivenFactor * MeasuredSwitchingTime(state, run));
}

// Looks for a run that should make room for what waits.
class RoomFinder {
 public:
  RoomFinder(const Draft& draft, const Waiting& waiting)
      : draft_(draft), waiting_(waiting), team_(draft.state().studies.at(waiting.study).team) {}

  std::optional<RunId> Find() const {
    const FairShare& share = draft_.state().index.fair_share;
    for (const auto& rich : share.teams().most()) {
      if (rich.key == team_ || !share.teams().ShouldYield(rich.key, 1, team_, share.now())) continue;
      for (const auto& study : share.studies_of(rich.key).most()) {
        if (auto run = FindOf(study.key, rich.key, share.teams(), team_)) return run;
      }
    }
    const FairQueue<StudyId>& studies = share.studies_of(team_);
    for (const auto& rich : studies.most()) {
      if (rich.key == waiting_.study || !studies.ShouldYield(rich.key, 1, waiting_.study, share.now())) continue;
      if (auto run = FindOf(rich.key, rich.key, studies, waiting_.study)) return run;
    }
    return std::nullopt;
  }

 private:
  // The newest run of the study that one party should give up for another.
  template <class Key>
  std::optional<RunId> FindOf(StudyId study, const Key& rich, const FairQueue<Key>& parties, const Key& poor) const {
    const FairShare& share = draft_.state().index.fair_share;
    const std::set<RunId>& runs = share.RunsOf(study);
    const auto newest = std::find_if(runs.rbegin(), runs.rend(), [&](RunId id) {
      const Run& run = draft_.state().runs.at(id);
      const bool serves_poor = std::ranges::any_of(run.serves, [&](StudyId served) { return IsOf(served, poor); });
      return !serves_poor && MayGo(run) && parties.ShouldYield(rich, run.slots, poor, share.now());
    });
    return newest == runs.rend() ? std::nullopt : std::optional(*newest);
  }

  bool IsOf(StudyId study, const std::string& team) const { return draft_.state().studies.at(study).team == team; }
  bool IsOf(StudyId study, StudyId other) const { return study == other; }

  // It has had its time, and what waits could begin in its place.
  bool MayGo(const Run& run) const {
    const MasterState& state = draft_.state();
    if (!CanPreempt(state, run) || Seconds(draft_.now - run.ordered_at) < LeastTimeOf(state, run)) return false;
    const auto server = state.servers.find(run.slot.server);
    const SearchPlan& plan = *waiting_.plan;
    if (server == state.servers.end() || !server->second.session || IsDraining(state, server->second)) return false;
    return OfferOf(server->second, plan.trainer, plan.identity.device_kind) != nullptr &&
           MayStart(draft_, server->second, plan, waiting_.beginning, {});
  }

  const Draft& draft_;
  const Waiting& waiting_;
  const std::string& team_;
};

struct Yielding {
  RunId run;
  StudyId study;
};

std::optional<Yielding> NextToYield(const Draft& draft) {
  int asked = 0;
  return draft.state().index.fair_share.FirstDue([&](StudyId study) -> std::optional<Yielding> {
    if (asked == kAskedMax) return std::nullopt;
    const std::optional<Waiting> waiting = WaitingOf(draft, study);
    if (!waiting) return std::nullopt;
    ++asked;
    const std::optional<RunId> run = RoomFinder(draft, *waiting).Find();
    return run ? std::optional(Yielding{*run, study}) : std::nullopt;
  });
}

}  // namespace

void PreemptForDue(Draft& draft) {
  while (const std::optional<Yielding> next = NextToYield(draft)) {
    draft.Log(LogLevel::kInfo, "a run makes room", {{"run", next->run}, {"study", next->study}});
    Preempt(draft, next->run);
    draft.HoldFor(next->run, next->study);
  }
}

}  // namespace espalier::master
