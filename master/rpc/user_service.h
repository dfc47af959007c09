// UserService: for administrators alone. Parses, posts the event, waits, answers; effect, errors and cost of each call
// are its handler's (core/calls/user_calls.h, weight_calls.h). ListUsers reads on the loop: O(users).
#pragma once

#include "espalier/v1/user.pb.h"
#include "master/rpc/guarded_service.h"
#include "master/rpc/master_port.h"
#include "master/rpc/pending_calls.h"

namespace espalier::master {

class UserService final : public GuardedService {
 public:
  UserService(MasterPort& master, PendingCalls& calls, const Callers& callers);

 private:
  Result<void> AddUser(const Caller& caller, const v1::AddUserRequest& request, v1::AddUserResponse& response);
  Result<void> ListUsers(const Caller& caller, const v1::ListUsersRequest& request, v1::ListUsersResponse& response);
  Result<void> RemoveUser(const Caller& caller, const v1::RemoveUserRequest& request, v1::RemoveUserResponse& response);
  Result<void> WeighTeam(const Caller& caller, const v1::WeighTeamRequest& request, v1::WeighTeamResponse& response);

  MasterPort& master_;
  PendingCalls& calls_;
};

}  // namespace espalier::master
