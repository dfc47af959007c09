#include "master/core/state/master_state.h"

namespace espalier::master {

MasterState::MasterState() = default;
MasterState::~MasterState() = default;
MasterState::MasterState(const MasterState&) = default;
MasterState::MasterState(MasterState&&) noexcept = default;
MasterState& MasterState::operator=(const MasterState&) = default;
MasterState& MasterState::operator=(MasterState&&) noexcept = default;
bool operator==(const MasterState&, const MasterState&) = default;

const Pause* LongestPause(const MasterState& state, const StageBeginning& beginning) {
  const auto pauses = state.pauses.find(beginning);
  return pauses == state.pauses.end() ? nullptr : &*pauses->second.begin();
}

double WeightOf(const MasterState& state, const std::string& team) {
  const auto weight = state.team_weights.find(team);
  return weight == state.team_weights.end() ? 1 : weight->second;
}

bool IsDraining(const MasterState& state, const Server& server) {
  return server.stopping || state.drains.contains(server.name);
}

const std::set<RunId>& ActiveRunsOf(const MasterState& state, const std::string& server) {
  static const std::set<RunId> kNone;
  const auto active = state.index.active_runs.find(server);
  return active == state.index.active_runs.end() ? kNone : active->second;
}

const OfferMade* OfferOf(const Server& server, Digest128 trainer, const std::string& device_kind) {
  const auto made = server.offers.find(trainer);
  return made == server.offers.end() || made->second.device_kind != device_kind ? nullptr : &made->second;
}

}  // namespace espalier::master
