#include "master/core/calls/user_calls.h"

#include <algorithm>

#include "base/key_text.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {
namespace {

constexpr std::size_t kUserNameBytesMax = 100;
constexpr std::size_t kTokenDigits = 64;
constexpr std::size_t kServersMax = 100;  // of one token

// Of users and teams: part of request keys and scopes, and typed by people.
Result<void> CheckUserName(const std::string& name, const char* field) {
  constexpr char kAllowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-";
  if (!name.empty() && name.size() <= kUserNameBytesMax && name.find_first_not_of(kAllowed) == std::string::npos) {
    return {};
  }
  return MakeError(ErrorCode::kInvalidArgument, "expected 1 to 100 letters, digits, or any of ._@-", field);
}

// Of a node manager, which is bound to some server.
Result<void> CheckServers(const User& user) {
  if (user.role != Role::kNode) {
    if (user.servers.empty()) return {};
    return MakeError(ErrorCode::kInvalidArgument, "only a node manager is a server", "servers");
  }
  if (user.servers.empty() || user.servers.size() > kServersMax) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected the names of 1 to 100 servers that the node manager may be; gpu-* for all that begin so",
                     "servers");
  }
  for (const std::string& server : user.servers) {
    ESPALIER_RETURN_IF_ERROR(CheckName(server, "servers"));
    if (server.find('*') >= server.size() - 1) continue;
    return MakeError(ErrorCode::kInvalidArgument, "expected '*' at the end alone, got " + server, "servers");
  }
  return {};
}

Result<void> CheckUser(const User& user) {
  ESPALIER_RETURN_IF_ERROR(CheckUserName(user.name, "name"));
  if (user.role != Role::kNode && user.role != Role::kTuner) {
    ESPALIER_RETURN_IF_ERROR(CheckUserName(user.team, "team"));
  } else if (!user.team.empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "node managers and tuner hosts are of no team", "team");
  }
  ESPALIER_RETURN_IF_ERROR(CheckServers(user));
  if (user.token_sha256.size() == kTokenDigits &&
      user.token_sha256.find_first_not_of("0123456789abcdef") == std::string::npos) {
    return {};
  }
  return MakeError(ErrorCode::kInvalidArgument, "expected 64 lower-case hexadecimal digits", "token_sha256");
}

bool IsActive(const User& user) { return !user.token_sha256.empty(); }

const User* FindByToken(const MasterState& state, const std::string& token_sha256) {
  for (const auto& [name, user] : state.users) {
    if (user.token_sha256 == token_sha256) return &user;
  }
  return nullptr;
}

Result<void> CheckIsNew(const MasterState& state, const User& user) {
  const auto known = state.users.find(user.name);
  if (known != state.users.end() && IsActive(known->second)) {
    return MakeError(ErrorCode::kAlreadyExists,
                     "there is a user " + user.name + "; for a new token, remove the user first, then add it again",
                     "name");
  }
  if (known != state.users.end() && known->second.team != user.team) {
    return MakeError(ErrorCode::kAlreadyExists,
                     "a removed user of this name was of " +
                         (known->second.team.empty() ? "no team" : "team " + known->second.team) +
                         ", and what it made stays there; choose another name",
                     "name");
  }
  if (FindByToken(state, user.token_sha256) == nullptr) return {};
  return MakeError(ErrorCode::kAlreadyExists, "this token is somebody's already; make another", "token_sha256");
}

void Set(Draft& draft, User user) {
  draft.Log(LogLevel::kInfo, IsActive(user) ? "user set" : "user removed",
            {{"name", user.name}, {"team", user.team}, {"role", Name(user.role)}});
  draft.Do(SetUser{std::move(user)});
}

void SetAndAdmit(Draft& draft, User user) {
  Set(draft, std::move(user));
  draft.Emit(AdmitUsers{draft.state().users});
}

}  // namespace

Digest128 ContentOf(const Caller&, const AddUser& call) {
  const User& user = call.added;
  KeyText content("add-user-1");
  content.Add(user.name).Add(user.team).Add(Name(user.role)).Add(user.token_sha256);
  for (const std::string& server : user.servers) content.Add(server);
  return DigestOf(content.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller&, const AddUser& call) {
  ESPALIER_RETURN_IF_ERROR(CheckUser(call.added));
  ESPALIER_RETURN_IF_ERROR(CheckIsNew(draft.state(), call.added));
  SetAndAdmit(draft, call.added);
  return std::vector<std::int64_t>();
}

UserChanged AnswerOf(const AddUser&, const std::vector<std::int64_t>&) { return {}; }

Digest128 ContentOf(const Caller&, const RemoveUser& call) {
  KeyText content("remove-user-1");
  content.Add(call.name);
  return DigestOf(content.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller&, const RemoveUser& call) {
  const auto known = draft.state().users.find(call.name);
  if (known == draft.state().users.end()) return MakeError(ErrorCode::kNotFound, "there is no such user", "name");
  User user = known->second;
  const auto administrates = [](const auto& entry) {
    return entry.second.role == Role::kAdministrator && IsActive(entry.second);
  };
  if (administrates(*known) &&
      std::count_if(draft.state().users.begin(), draft.state().users.end(), administrates) == 1) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     user.name + " is the only administrator; add another first, or nobody can add users", "name");
  }
  user.token_sha256.clear();
  SetAndAdmit(draft, std::move(user));
  return std::vector<std::int64_t>();
}

UserChanged AnswerOf(const RemoveUser&, const std::vector<std::int64_t>&) { return {}; }

void OnRecovered(Draft& draft, const Recovered& recovered) {
  draft.Do(RestartLeases{recovered.arrived});
  for (const User& first : draft.settings.first_users) {
    const User* holder = FindByToken(draft.state(), first.token_sha256);
    const auto known = draft.state().users.find(first.name);
    const bool is_of_other_team = known != draft.state().users.end() && known->second.team != first.team;
    if (holder == nullptr && !is_of_other_team) {
      Set(draft, first);
    } else if (holder == nullptr || *holder != first) {
      draft.Log(LogLevel::kWarning, "a first user's name or token is another user's, who keeps it",
                {{"name", first.name}});
    }
  }
  if (draft.state().users.empty()) {
    draft.Log(LogLevel::kWarning,
              "nobody may call: there is no user, and the configuration has no administrator_token_file");
  }
  draft.Emit(AdmitUsers{draft.state().users});
}

Result<void> CheckTeam(const MasterState& state, const std::string& team) {
  const auto is_of_it = [&](const auto& entry) { return entry.second.team == team; };
  if (!team.empty() && std::ranges::any_of(state.users, is_of_it)) return {};
  return MakeError(ErrorCode::kNotFound,
                   "nobody is of a team '" + team + "'; `espalier user list` shows those that there are", "team");
}

}  // namespace espalier::master
