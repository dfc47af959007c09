// What administrators ask for, and the first of them. ContentOf, Perform and AnswerOf are as calls/answer_once.h says;
// errors of Perform name the field.
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/draft.h"

namespace espalier::master {

// Adds a user, or gives one that was removed a new token. Administrators may call (the service checks that before it
// posts). Errors: kInvalidArgument; kAlreadyExists for a name or a token that is somebody's. O(users).
Digest128 ContentOf(const Caller& caller, const AddUser& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const AddUser& call);
UserChanged AnswerOf(const AddUser& call, const std::vector<std::int64_t>& ids);

// Takes the user's token away; what the user made stays. Administrators may call, as above. Errors: kNotFound;
// kFailedPrecondition for the only administrator. O(users).
Digest128 ContentOf(const Caller& caller, const RemoveUser& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const RemoveUser& call);
UserChanged AnswerOf(const RemoveUser& call, const std::vector<std::int64_t>& ids);

// The state has just been loaded: leases begin, the first administrator is given the token of the settings, and it is
// said who may call.
void OnRecovered(Draft& draft, const Recovered& recovered);

// Whether somebody is of the team, or was. Error: kNotFound, of "team". O(users).
Result<void> CheckTeam(const MasterState& state, const std::string& team);

}  // namespace espalier::master
