#include "master/core/nodes/quotas.h"

#include <algorithm>
#include <vector>

#include "master/core/nodes/runs.h"
#include "master/core/state/usage.h"

namespace espalier::master {
namespace {

using DeviceTimes = std::map<Party, Seconds>;

Seconds TimeOf(const DeviceTimes& times, const Party& party) {
  const auto time = times.find(party);
  return time == times.end() ? Seconds(0) : time->second;
}

DeviceTimes DeviceTimesIfLimited(const MasterState& state, Time now) {
  const bool is_limited =
      std::ranges::any_of(state.quotas, [](const auto& entry) { return entry.second.device_time.has_value(); });
  return is_limited ? DeviceTimeToday(state, now) : DeviceTimes{};
}

std::optional<StoppedBy> ReachedBy(const MasterState& state, const Party& party, const DeviceTimes& times) {
  const auto quota = state.quotas.find(party);
  if (quota == state.quotas.end()) return std::nullopt;
  const Quota& most = quota->second;
  if (most.stored_bytes && NeededBytes(state, party) >= *most.stored_bytes) return StoppedBy::kStoredBytes;
  if (most.device_time && TimeOf(times, party) >= *most.device_time) return StoppedBy::kDeviceTime;
  return std::nullopt;
}

// Those that have limits, and those that had one when they came to it.
std::vector<Party> PartiesToLookAt(const MasterState& state) {
  std::vector<Party> parties;
  for (const auto& [party, quota] : state.quotas) parties.push_back(party);
  for (const auto& [party, by] : state.stopped) {
    if (!state.quotas.contains(party)) parties.push_back(party);
  }
  return parties;
}

const char* Name(StoppedBy by) { return by == StoppedBy::kStoredBytes ? "stored bytes" : "device time"; }

void SetStoppedTo(Draft& draft, const Party& party, std::optional<StoppedBy> by) {
  const auto before = draft.state().stopped.find(party);
  const bool was_stopped = before != draft.state().stopped.end();
  if (was_stopped == by.has_value() && (!by || before->second == *by)) return;
  draft.Log(LogLevel::kInfo, by ? "a quota is reached" : "a quota is not reached any more",
            {{"party", PartyName(party)}, {"limit", Name(by ? *by : before->second)}});
  draft.Do(SetStopped{party, by});
}

void PreemptWhoIsStopped(Draft& draft) {
  std::vector<RunId> stopped;
  for (const RunId id : draft.state().active_runs) {
    const Run& run = draft.state().runs.at(id);
    const bool is_for_others =
        std::ranges::any_of(run.serves, [&](StudyId study) { return !IsStopped(draft.state(), study); });
    if (!is_for_others && !run.path.empty() && CanPreempt(draft.state(), run)) stopped.push_back(id);
  }
  for (const RunId run : stopped) Preempt(draft, run);
}

}  // namespace

void KeepQuotas(Draft& draft) {
  const DeviceTimes times = DeviceTimesIfLimited(draft.state(), draft.now);
  for (const Party& party : PartiesToLookAt(draft.state())) {
    SetStoppedTo(draft, party, ReachedBy(draft.state(), party, times));
  }
  if (!draft.state().stopped.empty()) PreemptWhoIsStopped(draft);
}

}  // namespace espalier::master
