// The stream between a node manager and the master, as benches hold it who are node managers of servers "stub...".
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "bench/service.h"
#include "espalier/v1/node_manager.grpc.pb.h"
#include "protocol/offer.h"

namespace espalier::bench {

// Begins with the registration.
class NodeStream {
 public:
  NodeStream(const Service& service, const Registration& registration);

  // False: the stream has ended.
  bool Read(v1::SynchronizeResponse& response) { return call_->Read(&response); }
  bool Write(const v1::SynchronizeRequest& request) { return call_->Write(request); }
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::NodeManagerService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::SynchronizeRequest, v1::SynchronizeResponse>> call_;
};

}  // namespace espalier::bench
