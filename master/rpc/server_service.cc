#include "master/rpc/server_service.h"

#include "espalier/v1/server.grpc.pb.h"

namespace espalier::master {

ServerService::ServerService(MasterPort& master, PendingCalls& calls, const Callers& callers)
    : GuardedService(v1::ServerService::service_full_name(), callers), master_(master), calls_(calls) {
  Serve("DrainServer", &Callers::Administrator, &ServerService::DrainServer);
}

Result<void> ServerService::DrainServer(const Caller& caller, const v1::DrainServerRequest& request,
                                        v1::DrainServerResponse& response) {
  ESPALIER_ASSIGN(const ServerDrained drained,
                  calls_.Ask<ServerDrained>(
                      master_, {.caller = caller,
                                .request_id = request.request_id(),
                                .what = master::DrainServer{request.server(), request.off(), request.why()}}));
  response.set_run_count(drained.run_count);
  return {};
}

}  // namespace espalier::master
