#include "master/core/state/user.h"

#include "base/enum_names.h"

namespace espalier::master {
namespace {

constexpr EnumName<Role> kRoles[] = {
    {Role::kMember, "member"}, {Role::kAdministrator, "administrator"}, {Role::kNode, "node"}, {Role::kTuner, "tuner"}};

}  // namespace

std::string_view Name(Role role) { return NameIn(kRoles, role); }

Result<Role> ParseRole(std::string_view name) { return ParseIn(kRoles, name); }

}  // namespace espalier::master
