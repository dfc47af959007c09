#include "master/core/user.h"

namespace espalier {

std::string_view Name(Role role) {
  switch (role) {
    case Role::kMember:
      return "member";
    case Role::kAdministrator:
      return "administrator";
    case Role::kNode:
      return "node";
  }
  return "";
}

Result<Role> ParseRole(std::string_view name) {
  for (const Role role : {Role::kMember, Role::kAdministrator, Role::kNode}) {
    if (Name(role) == name) return role;
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "expected member, administrator or node, got '" + std::string(name) + "'", "role");
}

}  // namespace espalier
