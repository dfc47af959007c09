#include "master/core/state/user.h"

#include <algorithm>

#include "base/enum_names.h"

namespace espalier::master {
namespace {

constexpr EnumName<Role> kRoles[] = {
    {Role::kMember, "member"}, {Role::kAdministrator, "administrator"}, {Role::kNode, "node"}, {Role::kTuner, "tuner"}};

}  // namespace

std::string_view Name(Role role) { return NameIn(kRoles, role); }

Result<Role> ParseRole(std::string_view name) { return ParseIn(kRoles, name); }

bool MayBe(const std::vector<std::string>& servers, std::string_view name) {
  return std::ranges::any_of(servers, [&](std::string_view each) {
    if (!each.ends_with('*')) return each == name;
    each.remove_suffix(1);
    return name.starts_with(each);
  });
}

}  // namespace espalier::master
