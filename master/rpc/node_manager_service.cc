#include "master/rpc/node_manager_service.h"

#include <thread>

#include "master/rpc/convert.h"
#include "master/rpc/grpc_status.h"
#include "master/rpc/known_request.h"

namespace espalier::master {
namespace {

Result<void> CheckMayBe(const Caller& node, const std::string& server) {
  if (MayBe(node.servers, server)) return {};
  std::string names;
  for (const std::string& each : node.servers) names += (names.empty() ? "" : ", ") + each;
  return MakeError(ErrorCode::kPermissionDenied,
                   "the token of " + node.user + " is for " + names + ", and not for the server '" + server +
                       "'; an administrator makes one: espalier user add NAME --role node --servers " + server,
                   "server");
}

}  // namespace

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
  while (status.ok() && stream->Read(&request)) {
    if (auto message = Take(*context, request, id); message.has_value()) {
      master_.Post(std::move(*message));
    } else {
      status = ToStatus(message.error());
    }
  }
  sessions_.Close(id);
  writer.join();
  master_.Post(NodeGone{id});
  return status;
}

Result<NodeMessage> NodeManagerService::Take(const grpc::ServerContext& context, const v1::SynchronizeRequest& request,
                                             SessionId id) const {
  ESPALIER_ASSIGN(const Caller node, callers_.Node(context));  // the token may be revoked meanwhile
  ESPALIER_RETURN_IF_ERROR(CheckKnown(context, request));
  ESPALIER_ASSIGN(NodeMessage message, FromProto(request, id));
  if (message.registration) ESPALIER_RETURN_IF_ERROR(CheckMayBe(node, message.registration->server));
  return message;
}

grpc::Status NodeManagerService::StreamedGetReference(
    grpc::ServerContext* context,
    grpc::ServerUnaryStreamer<v1::GetReferenceRequest, v1::GetReferenceResponse>* stream) {
  const auto caller = callers_.Node(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  v1::GetReferenceRequest request;
  if (!stream->Read(&request)) {
    return ToStatus({ErrorCode::kInvalidArgument, "the call ended before its request came", ""});
  }
  if (const auto known = CheckKnown(*context, request); !known.has_value()) return ToStatus(known.error());
  const Result<Digest128> digest = ParseDigest128(request.reference_digest());
  if (!digest.has_value()) return ToStatus({ErrorCode::kInvalidArgument, digest.error().message, "reference_digest"});
  Error refusal{ErrorCode::kNotFound, "there is no such reference", "reference_digest"};
  bool is_known = false;
  v1::GetReferenceResponse response;
  const Result<void> read = master_.Read([&](const MasterState& state) {
    const auto known = state.references.find(*digest);
    if (known == state.references.end()) return;
    *response.mutable_reference() = ToProto(known->second);
    const auto archive = state.archives.find(known->second.archive);
    is_known = known->second.archive.empty() || archive != state.archives.end();
    if (archive != state.archives.end()) response.set_archive(archive->second.bytes);
    refusal.message = "the service keeps its code no more; a new study with the same code brings it again";
  });
  if (!read.has_value()) return ToStatus(read.error());
  if (!is_known) return ToStatus(refusal);
  stream->Write(response);  // who calls may be gone, and learns nothing then
  return grpc::Status::OK;
}

grpc::Status NodeManagerService::StreamedPutOutput(
    grpc::ServerContext* context, grpc::ServerUnaryStreamer<v1::PutOutputRequest, v1::PutOutputResponse>* stream) {
  const auto caller = callers_.Node(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  v1::PutOutputRequest request;
  if (!stream->Read(&request)) {
    return ToStatus({ErrorCode::kInvalidArgument, "the call ended before its request came", ""});
  }
  if (const auto known = CheckKnown(*context, request); !known.has_value()) return ToStatus(known.error());
  const Result<RunOutput> output = FromProto(request);
  if (!output.has_value()) return ToStatus(output.error());
  std::optional<std::string> server;
  const Result<void> read = master_.Read([&](const MasterState& state) {
    const auto run = state.runs.find(output->run.run);
    if (run != state.runs.end()) server = run->second.slot.server;
  });
  if (!read.has_value()) return ToStatus(read.error());
  if (server) {
    if (const auto may = CheckMayBe(*caller, *server); !may.has_value()) return ToStatus(may.error());
  }
  if (const Result<void> put = stores_.outputs.Put(*output); !put.has_value()) return ToStatus(put.error());
  stream->Write(v1::PutOutputResponse());  // who calls may be gone, and learns nothing then
  return grpc::Status::OK;
}

grpc::Status NodeManagerService::StreamedPutServerLog(
    grpc::ServerContext* context,
    grpc::ServerUnaryStreamer<v1::PutServerLogRequest, v1::PutServerLogResponse>* stream) {
  const auto caller = callers_.Node(*context);
  if (!caller.has_value()) return ToStatus(caller.error());
  v1::PutServerLogRequest request;
  if (!stream->Read(&request)) {
    return ToStatus({ErrorCode::kInvalidArgument, "the call ended before its request came", ""});
  }
  if (const auto known = CheckKnown(*context, request); !known.has_value()) return ToStatus(known.error());
  const Result<ServerLogPart> part = FromProto(request);
  if (!part.has_value()) return ToStatus(part.error());
  if (const auto may = CheckMayBe(*caller, part->server); !may.has_value()) return ToStatus(may.error());
  bool is_registered = false;
  const Result<void> read = master_.Read([&](const MasterState& state) {
    const auto server = state.servers.find(part->server);
    is_registered = server != state.servers.end() && server->second.incarnation == part->incarnation;
  });
  if (!read.has_value()) return ToStatus(read.error());
  if (!is_registered) return ToStatus({ErrorCode::kUnavailable, "no such node manager is registered", "server"});
  if (const Result<void> put = stores_.server_logs.Put(*part); !put.has_value()) return ToStatus(put.error());
  stream->Write(v1::PutServerLogResponse());  // who calls may be gone, and learns nothing then
  return grpc::Status::OK;
}

}  // namespace espalier::master
