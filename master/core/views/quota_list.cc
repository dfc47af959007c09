#include "master/core/views/quota_list.h"

#include <set>

#include "master/core/state/usage.h"
#include "master/core/views/held_back.h"

namespace espalier::master {

std::vector<PartyQuota> QuotasFor(const Caller& caller, const MasterState& state, Time now) {
  const bool sees_all = IsAdministrator(state, caller);
  std::map<std::string, std::set<std::string>> users_of;
  for (const auto& [name, user] : state.users) {
    const bool is_listed = !user.token_sha256.empty() || state.usage.contains({Party::Kind::kUser, name});
    if (!user.team.empty() && is_listed && (sees_all || user.team == caller.team)) users_of[user.team].insert(name);
  }
  const std::map<Party, Seconds> device_times = DeviceTimeToday(state, now);
  std::vector<PartyQuota> listed;
  const auto list = [&](const Party& party, const std::string& team, const std::string& user) {
    const auto quota = state.quotas.find(party);
    const auto device_time = device_times.find(party);
    listed.push_back({.team = team,
                      .user = user,
                      .quota = quota == state.quotas.end() ? Quota{} : quota->second,
                      .open_trials = OpenTrialsOf(state, party),
                      .usage = UsageOf(state, party),
                      .device_time = device_time == device_times.end() ? Seconds(0) : device_time->second,
                      .stopped = WhyHeldBack(state, party, now)});
  };
  for (const auto& [team, users] : users_of) {
    list({Party::Kind::kTeam, team}, team, "");
    for (const std::string& user : users) list({Party::Kind::kUser, user}, team, user);
  }
  return listed;
}

}  // namespace espalier::master
