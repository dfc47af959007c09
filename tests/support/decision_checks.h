// What must be true after each decision of a master, for tests: plans keep their invariants, the index of needs and all
// counts say what their oracles say from scratch, and each event of a study is announced once and in order. A test that
// finds one of them broken fails there and then. One thread.
#pragma once

#include <map>

#include "master/core/reactor.h"

namespace espalier::master {

class DecisionChecks {
 public:
  // A master begins with this state.
  void OnLoaded(const MasterState& state);
  // `state` is as it is after the decision. O(state).
  void OnDecided(const Transition& transition, const MasterState& state);

 private:
  void Hear(const EventsAdded& added, const MasterState& state);

  std::map<StudyId, std::size_t> announced_;  // events
};

}  // namespace espalier::master
