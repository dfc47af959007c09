// A transition in the making: applies each change as it is decided, and remembers what the rest of the transition must
// look at again.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "master/core/effect.h"
#include "master/core/reactor.h"
#include "master/core/state/state_edit.h"

namespace espalier::master {

class Draft {
 public:
  Draft(MasterState& state, const Policy& its_policy, const ReactorSettings& its_settings, Time at)
      : policy(its_policy), settings(its_settings), now(at), state_(state) {}

  const MasterState& state() const { return state_; }

  void Do(StateChange change) {
    Apply(state_, change);
    if (const auto* of_plan = std::get_if<ChangePlan>(&change)) NoteWhatMaySettle(*of_plan);
    transition_.edit.push_back(std::move(change));
  }

  void Do(PlanId plan, PlanEdit edit) {
    for (PlanChange& change : edit) Do(ChangePlan{plan, std::move(change)});
  }

  void Emit(Effect effect) { transition_.effects.push_back(std::move(effect)); }

  Transition Finish() && { return std::move(transition_); }

  const Policy& policy;
  const ReactorSettings& settings;
  const Time now;

  // What may settle waiting claims: those of these points; all of a plan in which something failed.
  std::map<PlanId, std::set<Point>> points_to_settle;
  std::set<PlanId> plans_to_settle;

  std::set<PlanId> touched_plans;          // claims, points or runs changed: derive targets again
  std::set<StudyId> touched_studies;       // may be finished now
  std::set<std::string> touched_servers;   // what they should do, or what is acknowledged, changed
  std::set<std::string> superseded_files;  // reported now, for a point that another file holds
  bool schedule = false;                   // slots or claims changed

 private:
  void NoteWhatMaySettle(const ChangePlan& change) {
    if (const auto* claim = std::get_if<AddClaim>(&change.change)) {
      points_to_settle[change.plan].insert(claim->claim.point);
    } else if (const auto* metrics = std::get_if<AddMetrics>(&change.change)) {
      points_to_settle[change.plan].insert(metrics->point);
    } else if (const auto* failure = std::get_if<SetEvaluationFailure>(&change.change)) {
      points_to_settle[change.plan].insert(failure->point);
    } else if (std::holds_alternative<SetFailure>(change.change)) {
      plans_to_settle.insert(change.plan);
    }
  }

  MasterState& state_;
  Transition transition_;
};

}  // namespace espalier::master
