// A transition in the making: applies each change as it is decided, and derives from the change itself what the rest of
// the transition must look at again. This is the only place that does: a handler changes the state and says no more.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "master/core/effect.h"
#include "master/core/reactor.h"
#include "master/core/state/state_edit.h"

namespace espalier::master {

// What a transition has touched so far.
struct Touched {
  std::map<PlanId, std::set<Point>> points_to_settle;  // waiting claims there may be settled now
  std::map<PlanId, std::set<Point>> failed_points;     // waiting claims at or beyond them are failed, or done with NaN
  std::map<PlanId, std::set<Point>> lost_states;       // claims that are done there may lack the state
  std::set<PlanId> plans;                              // claims, states or runs changed: derive promises again
  std::set<StudyId> studies;                           // may be finished now
  std::set<std::string> servers;                       // what they should do, or what is acknowledged, changed
  std::vector<PolicyEvent> for_policy;                 // it has not been told yet
};

class Draft {
 public:
  Draft(MasterState& state, Policy& its_policy, const ReactorSettings& its_settings, Time at)
      : policy(its_policy), settings(its_settings), now(at), state_(state) {}

  const MasterState& state() const { return state_; }

  void Do(StateChange change) {
    Note(change);
    Apply(state_, change);
    transition_.edit.push_back(std::move(change));
  }

  void Do(PlanId plan, PlanEdit edit) {
    for (PlanChange& change : edit) Do(ChangePlan{plan, std::move(change)});
  }

  // What is new in the plan's needs; it is not told again.
  NeedIndex::News TakeNews(PlanId plan) {
    const auto needs = state_.index.needs.find(plan);
    return needs == state_.index.needs.end() ? NeedIndex::News{} : needs->second.TakeNews();
  }

  // What can be started, or could, and has changed; it is not told again.
  std::vector<ReadyWork> TakeWorkChanged();

  void Emit(Effect effect) { transition_.effects.push_back(std::move(effect)); }
  void Log(LogLevel level, std::string message, std::vector<LogField> fields = {}) {
    Emit(LogLine{level, std::move(message), std::move(fields)});
  }

  // The state was loaded: what runs serve is derived again, and every plan with runs or waiting claims is looked at.
  void TouchAll();

  // What the checkpoint is worth may have changed. REQUIRES: one stands there.
  void ValueCheckpoint(PlanId plan, Point point);

  // The run, which is being preempted, makes room for the study.
  void HoldFor(RunId run, StudyId study) { state_.index.fair_share.HoldFor(run, study); }

  // Metrics came from a run that does not owe the state there: claims that they settle may lack it.
  void NoteLostState(PlanId plan, Point point) { touched.lost_states[plan].insert(point); }

  // A server's reports came again: they are acknowledged again.
  void TellAgain(const std::string& server) { touched.servers.insert(server); }

  Transition Finish() && { return std::move(transition_); }

  Policy& policy;
  const ReactorSettings& settings;
  const Time now;

  Touched touched;
  std::map<StudyId, std::string> reached;  // studies that came to what they were to stop at, and to what
  std::set<std::string> superseded_files;  // nobody needs them any more, as was found now
  bool stored_states = false;              // some checkpoint was
  bool found_no_room = false;              // some state found none in the store, as was said now

 private:
  // Before the change is applied.
  void Note(const StateChange& change);

  MasterState& state_;
  Transition transition_;
};

}  // namespace espalier::master
