#include "master/rpc/callers.h"

#include "base/digest.h"
#include "base/token.h"

namespace espalier::master {
namespace {

// The token's bytes as the call carries them; empty if it carries none.
std::string_view TokenOf(const grpc::ServerContext& context) {
  const auto metadata = context.client_metadata().find({kTokenMetadata.data(), kTokenMetadata.size()});
  if (metadata == context.client_metadata().end()) return {};
  const std::string_view value(metadata->second.data(), metadata->second.size());
  return value.starts_with(kTokenScheme) ? value.substr(kTokenScheme.size()) : std::string_view();
}

tl::unexpected<Error> Unauthenticated(std::string message) {
  return MakeError(ErrorCode::kUnauthenticated, std::move(message));
}

Caller CallerOf(const User& user) { return {.user = user.name, .team = user.team, .servers = user.servers}; }

}  // namespace

void Callers::Admit(const std::map<std::string, User>& users) {
  std::map<std::string, User> by_token;
  for (const auto& [name, user] : users) {
    if (!user.token_sha256.empty()) by_token.emplace(user.token_sha256, user);
  }
  const std::lock_guard lock(mutex_);
  by_token_ = std::move(by_token);
}

Result<Caller> Callers::Member(const grpc::ServerContext& context) const {
  ESPALIER_ASSIGN(const User user, UserOf(context));
  if (user.role == Role::kMember || user.role == Role::kAdministrator) return CallerOf(user);
  return Unauthenticated("the token is a node manager's or a tuner host's, who has no studies; give a user's token");
}

Result<Caller> Callers::Administrator(const grpc::ServerContext& context) const {
  ESPALIER_ASSIGN(const User user, UserOf(context));
  if (user.role == Role::kAdministrator) return CallerOf(user);
  return Unauthenticated("only an administrator may do that, and " + user.name + " is none");
}

Result<Caller> Callers::TunerHost(const grpc::ServerContext& context) const {
  ESPALIER_ASSIGN(const User user, UserOf(context));
  if (user.role == Role::kTuner || user.role == Role::kAdministrator) return CallerOf(user);
  return Unauthenticated(
      "a tuner host needs a token of its own; an administrator makes one: espalier user add NAME "
      "--role tuner");
}

Result<Caller> Callers::Node(const grpc::ServerContext& context) const {
  ESPALIER_ASSIGN(const User user, UserOf(context));
  if (user.role == Role::kNode) return CallerOf(user);
  return Unauthenticated(
      "a node manager needs a token of its own; an administrator makes one: espalier user add NAME "
      "--role node --servers NAME");
}

Result<User> Callers::UserOf(const grpc::ServerContext& context) const {
  const std::string_view token = TokenOf(context);
  const std::string digest = Sha256Hex(token);
  const std::lock_guard lock(mutex_);
  if (!by_token_) return MakeError(ErrorCode::kUnavailable, "the master is starting; try again");
  if (token.empty()) {
    return Unauthenticated(
        "a token is needed: give --token-file FILE, or set ESPALIER_TOKEN; an administrator makes "
        "one: espalier user add NAME --team TEAM");
  }
  const auto user = by_token_->find(digest);
  if (user != by_token_->end()) return user->second;
  return Unauthenticated(
      "nobody has this token: it is wrong, or was revoked; an administrator makes a new one: espalier "
      "user add NAME --team TEAM");
}

}  // namespace espalier::master
