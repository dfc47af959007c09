#include "master/core/reactor.h"

#include "master/core/calls/answer_once.h"
#include "master/core/calls/code_calls.h"
#include "master/core/calls/user_calls.h"
#include "master/core/draft.h"
#include "master/core/nodes/checks.h"
#include "master/core/nodes/eviction.h"
#include "master/core/nodes/fair_share.h"
#include "master/core/nodes/node_messages.h"
#include "master/core/nodes/ordering.h"
#include "master/core/nodes/orders.h"
#include "master/core/nodes/quotas.h"
#include "master/core/nodes/runs.h"
#include "master/core/nodes/trial_actions.h"
#include "master/core/origin.h"
#include "master/core/retiring.h"
#include "master/core/settling.h"
#include "master/core/state/index_keeper.h"
#include "master/core/stopping.h"

namespace espalier::master {
namespace {

// How many estimates are looked at again with each event: each takes some 3 microseconds, and up to 30 where nothing of
// its lineage is in the processor's cache.
constexpr int kEstimatesAnEvent = 1;
constexpr int kEstimatesATick = 100;

struct Dispatcher {
  Draft& draft;
  void operator()(const ClientCall& call) const { AnswerOnce(draft, call); }
  void operator()(const NodeMessage& message) const { OnNodeMessage(draft, message); }
  void operator()(const NodeGone& gone) const { OnNodeGone(draft, gone); }
  void operator()(const Tick& tick) const {
    ForgetAsks(draft);
    OnTick(draft, tick);
    KeepQuotas(draft);
    NoteTimesUp(draft);
    RetireSome(draft);
  }
  void operator()(const Recovered& recovered) const {
    OnRecovered(draft, recovered);
    RecallPositions(draft);
    draft.TouchAll();
    KeepQuotas(draft);
  }
  void operator()(const CurveAnalysed& analysed) const { OnCurveAnalysed(draft, analysed); }
};

// Says which events the edit adds, to those who watch.
void Announce(Transition& transition) {
  std::map<StudyId, EventsAdded> added;
  for (const StateChange& change : transition.edit) {
    const auto* event = std::get_if<AddStudyEvent>(&change);
    if (event == nullptr) continue;
    const auto [it, is_first] = added.try_emplace(event->study, EventsAdded{event->study, event->number, {}, {}});
    it->second.events.push_back(event->event);
    it->second.times.push_back(event->at);
  }
  for (auto& [study, events] : added) transition.effects.push_back(std::move(events));
}

}  // namespace

Transition React(MasterState& state, const Event& event, Policy& policy, const ReactorSettings& settings, Time now) {
  if (policy.ranking() != state.index.ranking) IndexKeeper(state).RankBy(policy.ranking());
  const bool is_tick = std::holds_alternative<Tick>(event);
  state.index.fair_share.SetTime(now);
  if (is_tick) state.index.fair_share.Advance();
  Draft draft(state, policy, settings, now);
  std::visit(Dispatcher{draft}, event);
  SettleTouched(draft);
  StopStudies(draft);
  ClaimLostStates(draft);
  TakeOverStates(draft);
  OrderRuns(draft);
  if (is_tick && policy.is_fair()) PreemptForDue(draft);
  FinishStudies(draft);
  TellPolicy(draft);
  EndChecks(draft);
  KeepWithinBudget(draft);
  TellServers(draft);
  IndexKeeper(state).ReestimateSome(is_tick ? kEstimatesATick : kEstimatesAnEvent);
  Transition transition = std::move(draft).Finish();
  Announce(transition);
  return transition;
}

}  // namespace espalier::master
