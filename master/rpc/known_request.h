// Versions: a master refuses what it would misunderstand.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>

#include "base/result.h"

namespace espalier::master {

// Error: kWrongVersion, of a request with fields or enumerators that this master does not know, since a newer program
// wrote it; says both versions and what to do.
Result<void> CheckKnown(const grpc::ServerContext& context, const google::protobuf::Message& request);

}  // namespace espalier::master
