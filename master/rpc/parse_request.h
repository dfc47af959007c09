// A request as it came, made a message within limits.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include "base/result.h"

namespace espalier::master {

// Of a call that ends before it has said what it wants.
Error NoRequest();

// Empties `body`. Errors: kInvalidArgument when it is none of this kind; kResourceExhausted when it has more than
// kRequestBytesMax, or more parts than kRequestPartsMax; kWrongVersion as CheckKnown. Cost: O(bytes).
Result<void> ParseRequest(const grpc::ServerContext& context, grpc::ByteBuffer& body,
                          google::protobuf::Message& request);

}  // namespace espalier::master
