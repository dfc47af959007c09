#include "bench/node_stream.h"

#include "base/token.h"
#include "proto/convert_node_protocol.h"

namespace espalier::bench {

NodeStream::NodeStream(const Service& service, const Registration& registration) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  stub_ = v1::NodeManagerService::NewStub(
      grpc::CreateCustomChannel(service.address(), grpc::InsecureChannelCredentials(), arguments));
  context_.AddMetadata(std::string(kTokenMetadata), std::string(kTokenScheme) + service.StubToken());
  call_ = stub_->Synchronize(&context_);
  v1::SynchronizeRequest request;
  *request.mutable_registration() = ToProto(registration);
  if (!call_->Write(request)) GiveUp("the node cannot register");
}

}  // namespace espalier::bench
