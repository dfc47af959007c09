// ServerService: for administrators alone. Parses, posts the event, waits, answers; effect, errors and cost are the
// handler's (core/calls/server_calls.h).
#pragma once

#include "espalier/v1/server.pb.h"
#include "master/core/server_log_store.h"
#include "master/rpc/guarded_service.h"
#include "master/rpc/master_port.h"
#include "master/rpc/pending_calls.h"

namespace espalier::master {

class ServerService final : public GuardedService {
 public:
  ServerService(MasterPort& master, PendingCalls& calls, ServerLogStore& logs, const Callers& callers);

 private:
  Result<void> DrainServer(const Caller& caller, const v1::DrainServerRequest& request,
                           v1::DrainServerResponse& response);
  Result<void> SetPolicy(const Caller& caller, const v1::SetPolicyRequest& request, v1::SetPolicyResponse& response);
  // Waits for the database, and not for the event loop. Errors: kNotFound; kUnavailable.
  Result<void> GetServerLog(const Caller& caller, const v1::GetServerLogRequest& request,
                            v1::GetServerLogResponse& response);

  MasterPort& master_;
  PendingCalls& calls_;
  ServerLogStore& logs_;
};

}  // namespace espalier::master
