#include "master/rpc/user_service.h"

#include "espalier/v1/user.grpc.pb.h"

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

}  // namespace

UserService::UserService(MasterPort& master, PendingCalls& calls, const Callers& callers)
    : GuardedService(v1::UserService::service_full_name(), callers), master_(master), calls_(calls) {
  Serve("AddUser", &Callers::Administrator, &UserService::AddUser);
  Serve("ListUsers", &Callers::Administrator, &UserService::ListUsers);
  Serve("RemoveUser", &Callers::Administrator, &UserService::RemoveUser);
  Serve("WeighTeam", &Callers::Administrator, &UserService::WeighTeam);
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

}  // namespace espalier::master
