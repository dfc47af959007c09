#include "base/result.h"

namespace espalier {

std::string_view Name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kUnauthenticated:
      return "unauthenticated";
    case ErrorCode::kPermissionDenied:
      return "permission denied";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kAlreadyExists:
      return "already exists";
    case ErrorCode::kFailedPrecondition:
      return "failed precondition";
    case ErrorCode::kResourceExhausted:
      return "resource exhausted";
    case ErrorCode::kAborted:
      return "aborted";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kWrongVersion:
      return "wrong version";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

tl::unexpected<Error> InField(std::string_view field, Error error) {
  if (error.field.empty()) {
    error.field = field;
  } else if (error.field.front() == '[') {
    error.field = std::string(field) + error.field;
  } else {
    error.field = std::string(field) + "." + error.field;
  }
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace espalier
