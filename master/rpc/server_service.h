// ServerService: for administrators alone. Parses, posts the event, waits, answers; effect, errors and cost are the
// handler's (core/calls/server_calls.h).
#pragma once

#include "espalier/v1/server.pb.h"
#include "master/rpc/guarded_service.h"
#include "master/rpc/master_port.h"
#include "master/rpc/pending_calls.h"

namespace espalier::master {

class ServerService final : public GuardedService {
 public:
  ServerService(MasterPort& master, PendingCalls& calls, const Callers& callers);

 private:
  Result<void> DrainServer(const Caller& caller, const v1::DrainServerRequest& request,
                           v1::DrainServerResponse& response);

  MasterPort& master_;
  PendingCalls& calls_;
};

}  // namespace espalier::master
