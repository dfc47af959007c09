#include "master/rpc/node_manager_service.h"

#include <thread>

#include "master/rpc/convert.h"
#include "master/rpc/grpc_status.h"

namespace espalier::master {

grpc::Status NodeManagerService::Synchronize(
    grpc::ServerContext* context, grpc::ServerReaderWriter<v1::SynchronizeResponse, v1::SynchronizeRequest>* stream) {
  const auto caller = callers_.Node(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  const auto place = places_.Take(caller->user);
  if (!place.has_value()) return ToStatus(place.error());
  SessionId id;
  const std::shared_ptr<NodeSession> session = sessions_.Open([context] { context->TryCancel(); }, id);
  if (session == nullptr) return ToStatus({ErrorCode::kUnavailable, "the master is stopping; try again", ""});
  std::thread writer([&] {
    while (const auto response = session->Next()) {
      if (!stream->Write(*response)) return;
    }
  });
  grpc::Status status = grpc::Status::OK;
  v1::SynchronizeRequest request;
  while (stream->Read(&request)) {
    if (const auto node = callers_.Node(*context); !node.has_value()) {  // the token may be revoked meanwhile
      status = ToStatus(node.error());
      break;
    }
    auto message = FromProto(request, id);
    if (!message.has_value()) {
      status = ToStatus(message.error());
      break;
    }
    master_.Post(std::move(*message));
  }
  sessions_.Close(id);
  writer.join();
  master_.Post(NodeGone{id});
  return status;
}

}  // namespace espalier::master
