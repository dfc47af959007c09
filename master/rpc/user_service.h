// UserService: for administrators alone, but for ListQuotas. Parses, posts the event, waits, answers; effect, errors
// and cost of each call are its handler's (core/calls/user_calls.h, weight_calls.h, quota_calls.h). ListUsers and
// ListQuotas read on the loop: O(users); core/views/quota_list.h.
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

  Result<void> SetQuota(const Caller& caller, const v1::SetQuotaRequest& request, v1::SetQuotaResponse& response);
  Result<void> ListQuotas(const Caller& caller, const v1::ListQuotasRequest& request, v1::ListQuotasResponse& response);

  MasterPort& master_;
  PendingCalls& calls_;
};

}  // namespace espalier::master
