#include "master/core/views/held_back.h"

#include "master/core/state/usage.h"

namespace espalier::master {
namespace {

std::string UsedOf(double used, double most, const std::string& what) {
  const auto count = [](double number) { return std::to_string(static_cast<std::int64_t>(number)); };
  return count(used) + " of at most " + count(most) + " " + what;
}

std::string BytesUsed(const MasterState& state, const Party& party, std::int64_t most) {
  return PartyName(party) + " has " +
         UsedOf(static_cast<double>(NeededBytes(state, party)), static_cast<double>(most), "bytes of checkpoints") +
         " that are needed; less are, once trials are closed or cancelled, and administrators may allow more: espalier "
         "quota";
}

std::string TimeUsed(const MasterState& state, const Party& party, Seconds most, Time now) {
  const std::map<Party, Seconds> times = DeviceTimeToday(state, now);
  const auto used = times.find(party);
  return PartyName(party) + " has used " +
         UsedOf(used == times.end() ? 0 : used->second.count(), most.count(), "device-seconds of today (UTC)") +
         "; it goes on after midnight, or once an administrator allows more: espalier quota";
}

}  // namespace

std::string WhyHeldBack(const MasterState& state, const Party& party, Time now) {
  const auto stopped = state.stopped.find(party);
  const auto quota = state.quotas.find(party);
  if (stopped == state.stopped.end() || quota == state.quotas.end()) return "";
  switch (stopped->second) {
    case StoppedBy::kStoredBytes:
      return quota->second.stored_bytes ? BytesUsed(state, party, *quota->second.stored_bytes) : "";
    case StoppedBy::kDeviceTime:
      return quota->second.device_time ? TimeUsed(state, party, *quota->second.device_time, now) : "";
  }
  return "";
}

std::string WhyHeldBack(const MasterState& state, const Study& study, Time now) {
  for (const Party& party : PartiesOf(study)) {
    if (std::string why = WhyHeldBack(state, party, now); !why.empty()) return why;
  }
  return "";
}

}  // namespace espalier::master
