// The one mapping of errors to gRPC's status codes.
#pragma once

#include <grpcpp/support/status.h>

#include "base/result.h"

namespace espalier::master {

// The error's message and code; its field goes into the details as espalier.v1.ErrorDetail.
grpc::Status ToStatus(const Error& error);

}  // namespace espalier::master
