#include "master/rpc/server_service.h"

#include "espalier/v1/server.grpc.pb.h"

namespace espalier::master {

ServerService::ServerService(MasterPort& master, PendingCalls& calls, ServerLogStore& logs, const Callers& callers)
    : GuardedService(v1::ServerService::service_full_name(), callers), master_(master), calls_(calls), logs_(logs) {
  Serve("DrainServer", &Callers::Administrator, &ServerService::DrainServer);
  Serve("SetPolicy", &Callers::Administrator, &ServerService::SetPolicy);
  Serve("GetServerLog", &Callers::Administrator, &ServerService::GetServerLog);
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

Result<void> ServerService::SetPolicy(const Caller& caller, const v1::SetPolicyRequest& request,
                                      v1::SetPolicyResponse&) {
  ESPALIER_RETURN_IF_ERROR(calls_.Ask<PolicyChosen>(
      master_, {.caller = caller, .request_id = request.request_id(), .what = ChoosePolicy{request.policy()}}));
  return {};
}

Result<void> ServerService::GetServerLog(const Caller&, const v1::GetServerLogRequest& request,
                                         v1::GetServerLogResponse& response) {
  ESPALIER_ASSIGN(const std::vector<StoredServerLog> stored, logs_.Read(request.server(), request.after()));
  if (stored.empty() && request.after() == 0) {
    return MakeError(
        ErrorCode::kNotFound,
        "nothing is kept of a log of \"" + request.server() + "\"; `espalier server list` names the servers", "server");
  }
  for (const StoredServerLog& each : stored) {
    v1::ServerLogPiece& piece = *response.add_pieces();
    piece.set_incarnation(each.part.incarnation);
    piece.set_position(each.part.position);
    piece.set_text(each.part.text);
  }
  response.set_next(stored.empty() ? request.after() : stored.back().number);
  return {};
}

}  // namespace espalier::master
