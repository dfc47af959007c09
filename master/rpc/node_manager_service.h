// NodeManagerService: turns each stream's messages into events, and desired states into messages.
#pragma once

#include "espalier/v1/node_manager.grpc.pb.h"
#include "master/core/side_stores.h"
#include "master/rpc/callers.h"
#include "master/rpc/limits.h"
#include "master/rpc/master_port.h"
#include "master/rpc/node_sessions.h"
#include "master/rpc/stream_places.h"

namespace espalier::master {

// Its unary calls are such that read their requests themselves: who calls is found out first (guarded_service.h).
class NodeManagerService final
    : public v1::NodeManagerService::WithStreamedUnaryMethod_GetReference<
          v1::NodeManagerService::WithStreamedUnaryMethod_PutOutput<
              v1::NodeManagerService::WithStreamedUnaryMethod_PutServerLog<v1::NodeManagerService::Service>>> {
 public:
  NodeManagerService(MasterPort& master, NodeSessions& sessions, const SideStores& stores, const Callers& callers)
      : master_(master), sessions_(sessions), stores_(stores), callers_(callers) {}

  // Until the node manager, the network or the master ends it; then NodeGone is posted, once, behind all messages.
  // Errors: kUnauthenticated, also when the token is revoked meanwhile; kPermissionDenied for a server that the token
  // is not for; kResourceExhausted over kNodesPerUserMax; kInvalidArgument for a message that makes no sense;
  // kUnavailable while the master stops.
  grpc::Status Synchronize(grpc::ServerContext* context,
                           grpc::ServerReaderWriter<v1::SynchronizeResponse, v1::SynchronizeRequest>* stream) override;

  // Errors: kUnauthenticated; kNotFound; kUnavailable while the master stops.
  grpc::Status StreamedGetReference(
      grpc::ServerContext* context,
      grpc::ServerUnaryStreamer<v1::GetReferenceRequest, v1::GetReferenceResponse>* stream) override;

  // Waits for the database, and asks the event loop whose the run is. Errors: kUnauthenticated; kPermissionDenied for a
  // run of a server that the token is not for; those of OutputStore::Put; kInvalidArgument; kUnavailable while the
  // master stops.
  grpc::Status StreamedPutOutput(
      grpc::ServerContext* context,
      grpc::ServerUnaryStreamer<v1::PutOutputRequest, v1::PutOutputResponse>* stream) override;

  // Waits for the database, and asks the event loop whether such a node manager is registered. Errors:
  // kUnauthenticated; kPermissionDenied as above; kInvalidArgument; kUnavailable also where none is (yet).
  grpc::Status StreamedPutServerLog(
      grpc::ServerContext* context,
      grpc::ServerUnaryStreamer<v1::PutServerLogRequest, v1::PutServerLogResponse>* stream) override;

 private:
  // What a stream's next message says, of whoever may say it.
  Result<NodeMessage> Take(const grpc::ServerContext& context, const v1::SynchronizeRequest& request,
                           SessionId id) const;

  MasterPort& master_;
  NodeSessions& sessions_;
  const SideStores stores_;
  const Callers& callers_;
  StreamPlaces places_{"streams of node managers", kNodesPerUserMax};
};

}  // namespace espalier::master
