#include "master/rpc/guarded_service.h"

namespace espalier::master {

void GuardedService::StartStreams(StreamPump& pump) {
  pump_ = &pump;
  for (StreamMethod& method : streams_) {
    method.pump = &pump;
    GuardedStream::Accept(method);
  }
}

int GuardedService::Add(const char* method, grpc::internal::MethodHandler* handler) {
  const std::string& path = paths_.emplace_front("/" + name_ + "/" + method);
  // For gRPC a unary call that reads its request itself is a stream of one message each way, and so is one that has
  // many responses.
  AddMethod(new grpc::internal::RpcServiceMethod(path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, handler));
  return method_count_++;
}

}  // namespace espalier::master
