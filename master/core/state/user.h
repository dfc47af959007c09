// Who may use the service.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::master {

// What a user's token is good for: studies; studies and users; being a node manager; being a tuner host.
enum class Role { kMember, kAdministrator, kNode, kTuner };

std::string_view Name(Role role);
Result<Role> ParseRole(std::string_view name);

// A user stays for good, and of one team: whoever comes by the same name later is the same.
struct User {
  std::string name;
  std::string team;  // empty: a node manager, or a tuner host
  Role role = Role::kMember;
  std::string token_sha256;  // 64 hexadecimal digits; empty: removed, no token is this user's
  std::vector<std::string> servers =
      {};  // that a node manager may be, at least one: names, or "gpu-*" for all that begin so
  friend bool operator==(const User&, const User&) = default;
};

// Whether a node manager that may be these servers may be the one of this name. O(servers).
bool MayBe(const std::vector<std::string>& servers, std::string_view name);

}  // namespace espalier::master
