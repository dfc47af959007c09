#include "master/rpc/user_service.h"

#include "master/rpc/grpc_status.h"

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
    default:
      return MakeError(ErrorCode::kInvalidArgument, "expected member, administrator or node", "role");
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
  }
  return v1::ROLE_UNSPECIFIED;
}

grpc::Status StatusOf(const Answer& answer) {
  const auto* error = std::get_if<Error>(&answer);
  return error != nullptr ? ToStatus(*error) : grpc::Status::OK;
}

}  // namespace

grpc::Status UserService::AddUser(grpc::ServerContext* context, const v1::AddUserRequest* request,
                                  v1::AddUserResponse*) {
  const Result<Caller> caller = callers_.Administrator(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  const Result<Role> role = FromProto(request->role());
  if (!role.has_value()) return ToStatus(role.error());
  User added{.name = request->name(), .team = request->team(), .role = *role, .token_sha256 = request->token_sha256()};
  return StatusOf(calls_.Ask(
      master_, {.caller = *caller, .request_id = request->request_id(), .what = master::AddUser{std::move(added)}}));
}

grpc::Status UserService::ListUsers(grpc::ServerContext* context, const v1::ListUsersRequest*,
                                    v1::ListUsersResponse* response) {
  const Result<Caller> caller = callers_.Administrator(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  const auto read = master_.Read([&](const MasterState& state) {
    for (const auto& [name, user] : state.users) {
      v1::User& message = *response->add_users();
      message.set_name(name);
      message.set_team(user.team);
      message.set_role(ToProto(user.role));
      message.set_active(!user.token_sha256.empty());
    }
  });
  return read.has_value() ? grpc::Status::OK : ToStatus(read.error());
}

grpc::Status UserService::RemoveUser(grpc::ServerContext* context, const v1::RemoveUserRequest* request,
                                     v1::RemoveUserResponse*) {
  const Result<Caller> caller = callers_.Administrator(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  return StatusOf(calls_.Ask(
      master_, {.caller = *caller, .request_id = request->request_id(), .what = master::RemoveUser{request->name()}}));
}

}  // namespace espalier::master
