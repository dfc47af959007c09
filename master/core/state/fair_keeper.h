// Keeps up to date who is due (scheduler/fair_share.h), and what can be started for whom. Called where that may change;
// looks at nothing else.
#pragma once

#include <string>

#include "master/core/state/master_state.h"

namespace espalier::master {

class FairKeeper {
 public:
  explicit FairKeeper(MasterState& state) : state_(state) {}

  // Each O(log studies and teams).
  void StudyAdded(const Study& study);
  // What can be started in the plan has changed. O(studies for which it has x log).
  void ReadyChanged(const SearchPlan& plan);
  // The run was ordered, or serves others than before. One that is being preempted counts for those that it served, or
  // for whom it makes room. O(studies it serves x log).
  void Serves(const Run& run);

  // Of the team, or if that is empty of the study. O(log). REQUIRES: weight > 0; there is such a study.
  void SetWeight(const std::string& team, StudyId study, double weight);

  // The party's studies are stopped (SetStopped), or may go on: what can be started for them is listed anew, and
  // policies look at it. O(running studies + what can be started for the party's x log).
  void StoppedOrNot(const Party& party);

  // All that can be started is listed again, in another order.
  void Reorder();

 private:
  void ListReady(const SearchPlan& plan, StudyId study);

  MasterState& state_;
};

}  // namespace espalier::master
