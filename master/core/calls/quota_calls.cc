#include "master/core/calls/quota_calls.h"

#include <type_traits>

#include "base/key_text.h"
#include "master/core/calls/user_calls.h"
#include "master/core/nodes/quotas.h"

namespace espalier::master {
namespace {

constexpr Seconds kDeviceTimeMax{1e12};

template <class Limit>
std::string TextOf(const QuotaChange::ChangeTo<Limit>& change) {
  if (!change) return "";
  if (!*change) return "none";
  if constexpr (std::is_same_v<Limit, Seconds>) {
    return std::to_string((*change)->count());
  } else {
    return std::to_string(**change);
  }
}

Result<void> CheckParty(const MasterState& state, const Party& party) {
  if (party.kind == Party::Kind::kTeam) return CheckTeam(state, party.name);
  const auto user = state.users.find(party.name);
  if (user != state.users.end() && !user->second.team.empty()) return {};
  return MakeError(ErrorCode::kNotFound,
                   "there is no user '" + party.name + "'; `espalier user list` shows those that there are", "user");
}

Result<void> Change(std::optional<std::int64_t>& limit, const QuotaChange::ChangeTo<std::int64_t>& change,
                    const char* field) {
  if (!change) return {};
  if (*change && **change < 0) return MakeError(ErrorCode::kInvalidArgument, "expected 0 or more, or none", field);
  limit = *change;
  return {};
}

Result<void> Change(std::optional<Seconds>& limit, const QuotaChange::ChangeTo<Seconds>& change, const char* field) {
  if (!change) return {};
  const bool is_in_range = !*change || (**change >= Seconds(0) && **change <= kDeviceTimeMax);
  if (!is_in_range) return MakeError(ErrorCode::kInvalidArgument, "expected 0 to 1e12 seconds, or none", field);
  limit = *change;
  return {};
}

}  // namespace

Digest128 ContentOf(const Caller&, const LimitParty& call) {
  return DigestOf(KeyText("limit-party-1")
                      .Add(PartyName(call.party))
                      .Add(TextOf(call.change.open_trials))
                      .Add(TextOf(call.change.plan_nodes))
                      .Add(TextOf(call.change.stored_bytes))
                      .Add(TextOf(call.change.device_time))
                      .text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const LimitParty& call) {
  ESPALIER_RETURN_IF_ERROR(CheckParty(draft.state(), call.party));
  const auto before = draft.state().quotas.find(call.party);
  Quota quota = before == draft.state().quotas.end() ? Quota{} : before->second;
  ESPALIER_RETURN_IF_ERROR(Change(quota.open_trials, call.change.open_trials, "open_trials"));
  ESPALIER_RETURN_IF_ERROR(Change(quota.plan_nodes, call.change.plan_nodes, "plan_nodes"));
  ESPALIER_RETURN_IF_ERROR(Change(quota.stored_bytes, call.change.stored_bytes, "stored_bytes"));
  ESPALIER_RETURN_IF_ERROR(Change(quota.device_time, call.change.device_time, "device_seconds"));
  draft.Log(LogLevel::kInfo, "quota set", {{"party", PartyName(call.party)}, {"by", caller.user}});
  draft.Do(SetQuota{call.party, quota});
  KeepQuotas(draft);
  return std::vector<std::int64_t>();
}

QuotaSet AnswerOf(const LimitParty&, const std::vector<std::int64_t>&) { return {}; }

}  // namespace espalier::master
