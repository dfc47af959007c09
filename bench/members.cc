#include "bench/members.h"

#include <algorithm>

#include "base/digest.h"
#include "base/token.h"
#include "bench/service.h"
#include "client/connection.h"

namespace espalier::bench {

std::vector<std::string> AddMembers(Client& client, std::int64_t count) {
  const v1::ListUsersResponse users = Need(client.connection().ListUsers({}));
  const auto administrator = std::ranges::find(users.users(), v1::ROLE_ADMINISTRATOR, &v1::User::role);
  std::vector<std::string> tokens;
  for (std::int64_t i = 1; i <= count; ++i) {
    const std::string name = "member-" + std::to_string(i);
    v1::AddUserRequest request;
    request.set_request_id(name);
    request.set_name(name);
    request.set_team(administrator->team());
    request.set_token_sha256(Sha256Hex(tokens.emplace_back(NewToken())));
    Need(client.connection().AddUser(request));
  }
  return tokens;
}

}  // namespace espalier::bench
