#include "master/rpc/user_service.h"

#include <cmath>

#include "base/clock.h"
#include "espalier/v1/user.grpc.pb.h"
#include "master/core/views/quota_list.h"

namespace espalier::master {
namespace {

Result<Role> FromProto(v1::Role role) {
  switch (role) {
    case v1::ROLE_UNSPECIFIED:
    case v1::ROLE_MEMBER:
      return Role::kMember;
    case v1::ROLE_ADMINISTRATOR:
      return Role::kAdministrator;
    case v1::ROLE_NODE:
      return Role::kNode;
    case v1::ROLE_TUNER:
      return Role::kTuner;
    default:
      return MakeError(ErrorCode::kInvalidArgument, "expected member, administrator, node or tuner", "role");
  }
}

v1::Role ToProto(Role role) {
  switch (role) {
    case Role::kMember:
      return v1::ROLE_MEMBER;
    case Role::kAdministrator:
      return v1::ROLE_ADMINISTRATOR;
    case Role::kNode:
      return v1::ROLE_NODE;
    case Role::kTuner:
      return v1::ROLE_TUNER;
  }
  return v1::ROLE_UNSPECIFIED;
}

Result<Party> PartyOf(const v1::SetQuotaRequest& request) {
  switch (request.of_case()) {
    case v1::SetQuotaRequest::kTeam:
      return Party{Party::Kind::kTeam, request.team()};
    case v1::SetQuotaRequest::kUser:
      return Party{Party::Kind::kUser, request.user()};
    case v1::SetQuotaRequest::OF_NOT_SET:
      break;
  }
  return MakeError(ErrorCode::kInvalidArgument, "expected a team or a user", "team");
}

// Nothing where it stays as it is.
Result<QuotaChange::ChangeTo<double>> ChangeOf(bool is_there, const v1::Limit& limit, const char* field) {
  if (!is_there) return QuotaChange::ChangeTo<double>();
  if (limit.to_case() == v1::Limit::kNone && limit.none()) return std::optional(std::optional<double>());
  if (limit.to_case() == v1::Limit::kAtMost && limit.at_most() >= 0) {
    return std::optional(std::optional<double>(limit.at_most()));
  }
  return MakeError(ErrorCode::kInvalidArgument, "expected 0 or more, or none", field);
}

Result<QuotaChange::ChangeTo<std::int64_t>> WholeChangeOf(bool is_there, const v1::Limit& limit, const char* field) {
  constexpr double kWholeMax = 9007199254740992;  // 2^53
  ESPALIER_ASSIGN(const auto change, ChangeOf(is_there, limit, field));
  if (!change) return QuotaChange::ChangeTo<std::int64_t>();
  if (!*change) return std::optional(std::optional<std::int64_t>());
  const double most = **change;
  if (most != std::floor(most) || most > kWholeMax) {
    return MakeError(ErrorCode::kInvalidArgument, "expected a whole number up to 2^53, or none", field);
  }
  return std::optional(std::optional(static_cast<std::int64_t>(most)));
}

Result<QuotaChange> FromProto(const v1::SetQuotaRequest& request) {
  QuotaChange change;
  ESPALIER_ASSIGN(change.open_trials, WholeChangeOf(request.has_open_trials(), request.open_trials(), "open_trials"));
  ESPALIER_ASSIGN(change.plan_nodes, WholeChangeOf(request.has_plan_nodes(), request.plan_nodes(), "plan_nodes"));
  ESPALIER_ASSIGN(change.stored_bytes,
                  WholeChangeOf(request.has_stored_bytes(), request.stored_bytes(), "stored_bytes"));
  ESPALIER_ASSIGN(const auto seconds,
                  ChangeOf(request.has_device_seconds(), request.device_seconds(), "device_seconds"));
  if (seconds) change.device_time = *seconds ? std::optional(Seconds(**seconds)) : std::nullopt;
  return change;
}

template <class Limit>
void Fill(double used, const std::optional<Limit>& at_most, v1::Allowance& allowance) {
  allowance.set_used(used);
  if (at_most) allowance.set_at_most(static_cast<double>(*at_most));
}

}  // namespace

UserService::UserService(MasterPort& master, PendingCalls& calls, const Callers& callers)
    : GuardedService(v1::UserService::service_full_name(), callers), master_(master), calls_(calls) {
  Serve("AddUser", &Callers::Administrator, &UserService::AddUser);
  Serve("ListUsers", &Callers::Administrator, &UserService::ListUsers);
  Serve("RemoveUser", &Callers::Administrator, &UserService::RemoveUser);
  Serve("WeighTeam", &Callers::Administrator, &UserService::WeighTeam);
  Serve("SetQuota", &Callers::Administrator, &UserService::SetQuota);
  Serve("ListQuotas", &Callers::Member, &UserService::ListQuotas);
}

Result<void> UserService::AddUser(const Caller& caller, const v1::AddUserRequest& request, v1::AddUserResponse&) {
  ESPALIER_ASSIGN(const Role role, FromProto(request.role()));
  User added{.name = request.name(),
             .team = request.team(),
             .role = role,
             .token_sha256 = request.token_sha256(),
             .servers = {request.servers().begin(), request.servers().end()}};
  ESPALIER_RETURN_IF_ERROR(calls_.Ask<UserChanged>(
      master_, {.caller = caller, .request_id = request.request_id(), .what = master::AddUser{std::move(added)}}));
  return {};
}

Result<void> UserService::ListUsers(const Caller&, const v1::ListUsersRequest&, v1::ListUsersResponse& response) {
  return master_.Read([&](const MasterState& state) {
    for (const auto& [name, user] : state.users) {
      v1::User& message = *response.add_users();
      message.set_name(name);
      message.set_team(user.team);
      message.set_role(ToProto(user.role));
      message.set_active(!user.token_sha256.empty());
      message.mutable_servers()->Assign(user.servers.begin(), user.servers.end());
    }
  });
}

Result<void> UserService::RemoveUser(const Caller& caller, const v1::RemoveUserRequest& request,
                                     v1::RemoveUserResponse&) {
  ESPALIER_RETURN_IF_ERROR(calls_.Ask<UserChanged>(
      master_, {.caller = caller, .request_id = request.request_id(), .what = master::RemoveUser{request.name()}}));
  return {};
}

Result<void> UserService::WeighTeam(const Caller& caller, const v1::WeighTeamRequest& request, v1::WeighTeamResponse&) {
  ESPALIER_RETURN_IF_ERROR(
      calls_.Ask<WeightSet>(master_, {.caller = caller,
                                      .request_id = request.request_id(),
                                      .what = master::WeighTeam{request.team(), request.weight()}}));
  return {};
}

Result<void> UserService::SetQuota(const Caller& caller, const v1::SetQuotaRequest& request, v1::SetQuotaResponse&) {
  ESPALIER_ASSIGN(Party party, PartyOf(request));
  ESPALIER_ASSIGN(const QuotaChange change, FromProto(request));
  ESPALIER_RETURN_IF_ERROR(calls_.Ask<QuotaSet>(
      master_, {.caller = caller, .request_id = request.request_id(), .what = LimitParty{std::move(party), change}}));
  return {};
}

Result<void> UserService::ListQuotas(const Caller& caller, const v1::ListQuotasRequest&,
                                     v1::ListQuotasResponse& response) {
  return master_.Read([&](const MasterState& state) {
    for (const PartyQuota& each : QuotasFor(caller, state, Now())) {
      v1::PartyQuota& message = *response.add_parties();
      message.set_team(each.team);
      message.set_user(each.user);
      message.set_stopped(each.stopped);
      const Quota& most = each.quota;
      const auto seconds = most.device_time ? std::optional(most.device_time->count()) : std::nullopt;
      Fill(static_cast<double>(each.open_trials), most.open_trials, *message.mutable_open_trials());
      Fill(static_cast<double>(each.usage.plan_nodes), most.plan_nodes, *message.mutable_plan_nodes());
      Fill(static_cast<double>(each.usage.stored_bytes), most.stored_bytes, *message.mutable_stored_bytes());
      Fill(each.device_time.count(), seconds, *message.mutable_device_seconds());
    }
  });
}

}  // namespace espalier::master
