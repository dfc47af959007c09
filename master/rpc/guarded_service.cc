#include "master/rpc/guarded_service.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include "master/rpc/known_request.h"
#include "master/rpc/limits.h"
#include "master/rpc/message_parts.h"

namespace espalier::master {

Result<void> GuardedService::Parse(const grpc::ServerContext& context, bool came, grpc::ByteBuffer& body,
                                   google::protobuf::Message& request) {
  if (!came) return MakeError(ErrorCode::kInvalidArgument, "the call ended before its request came");
  if (body.Length() > kRequestBytesMax) {
    return MakeError(ErrorCode::kResourceExhausted, "a request has at most " + std::to_string(kRequestBytesMax) +
                                                        " bytes, got " + std::to_string(body.Length()) +
                                                        "; ask for less at once");
  }
  grpc::ProtoBufferReader counted(&body);
  if (CountParts(counted, *request.GetDescriptor(), kRequestPartsMax) == kRequestPartsMax) {
    return MakeError(ErrorCode::kResourceExhausted, "a request has fewer than " + std::to_string(kRequestPartsMax) +
                                                        " messages and texts within it; ask for less at once");
  }
  grpc::ProtoBufferReader reader(&body);
  if (reader.status().ok() && request.ParseFromZeroCopyStream(&reader)) return CheckKnown(context, request);
  return MakeError(ErrorCode::kInvalidArgument, "the request is no " + request.GetDescriptor()->full_name());
}

void GuardedService::Add(const char* method, grpc::internal::MethodHandler* handler) {
  const std::string& path = paths_.emplace_front("/" + name_ + "/" + method);
  // For gRPC a unary call that reads its request itself is a stream of one message each way.
  AddMethod(new grpc::internal::RpcServiceMethod(path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, handler));
}

}  // namespace espalier::master
