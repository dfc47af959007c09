#include "master/rpc/parse_request.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include "master/rpc/known_request.h"
#include "master/rpc/limits.h"
#include "master/rpc/message_parts.h"

namespace espalier::master {

Error NoRequest() { return {ErrorCode::kInvalidArgument, "the call ended before its request came", {}}; }

Result<void> ParseRequest(const grpc::ServerContext& context, grpc::ByteBuffer& body,
                          google::protobuf::Message& request) {
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
  const bool is_read = reader.status().ok() && request.ParseFromZeroCopyStream(&reader);
  body.Clear();  // the answer may take its time
  if (is_read) return CheckKnown(context, request);
  return MakeError(ErrorCode::kInvalidArgument, "the request is no " + request.GetDescriptor()->full_name());
}

}  // namespace espalier::master
