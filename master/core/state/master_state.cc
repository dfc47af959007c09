#include "master/core/state/master_state.h"

namespace espalier::master {

const Pause* LongestPause(const MasterState& state, const StageBeginning& beginning) {
  const auto pauses = state.pauses.find(beginning);
  return pauses == state.pauses.end() ? nullptr : &*pauses->second.begin();
}

const std::set<RunId>& ActiveRunsOf(const MasterState& state, const std::string& server) {
  static const std::set<RunId> kNone;
  const auto active = state.index.active_runs.find(server);
  return active == state.index.active_runs.end() ? kNone : active->second;
}

}  // namespace espalier::master
