// Expected errors. A function that can fail for a reason the caller must handle returns Result<T>; a programmer's fault
// is an ESPALIER_CHECK (base/check.h); third-party exceptions are caught in the one file that touches the library.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace espalier {

enum class ErrorCode {
  kInvalidArgument,     // malformed: fix the request
  kUnauthenticated,     // no token, or one nobody knows
  kPermissionDenied,    // a node manager's token, for another server
  kNotFound,            // no such thing, or not yours
  kAlreadyExists,       // same request id or running study's name, other content
  kFailedPrecondition,  // the study is finished, the trial is closed
  kResourceExhausted,   // over a limit
  kAborted,             // the whole call may be tried again
  kUnavailable,         // server or database away, commit outcome unknown: try again, every write is keyed
  kWrongVersion,        // the other side does not know the call, or what is said
  kInternal,            // anything else; logged with an id
};

// "invalid argument", "not found", ...
std::string_view Name(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // what is wrong and what is expected, one line, no full stop
  std::string field;    // which input, as a path: "hyper_parameters.lr[2]"; empty if no single one
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> MakeError(ErrorCode code, std::string message, std::string field = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(field)});
}

// The same error, said of a field: prefixes `field` (joined by a dot) to the error's own.
tl::unexpected<Error> InField(std::string_view field, Error error);

}  // namespace espalier

// Assigns the value of a Result to `target`, or returns its error from the enclosing function.
#define ESPALIER_CONCAT_INNER(a, b) a##b
#define ESPALIER_CONCAT(a, b) ESPALIER_CONCAT_INNER(a, b)
#define ESPALIER_ASSIGN_INNER(result, target, expression)     \
  auto result = (expression);                                 \
  if (!result.has_value()) {                                  \
    return tl::unexpected<::espalier::Error>(result.error()); \
  }                                                           \
  target = std::move(*result)
#define ESPALIER_ASSIGN(target, expression) \
  ESPALIER_ASSIGN_INNER(ESPALIER_CONCAT(espalier_result_, __COUNTER__), target, expression)

// Returns the error of a Result<void> (or of any Result whose value is not wanted) from the enclosing function.
#define ESPALIER_RETURN_IF_ERROR_INNER(result, expression)    \
  if (auto result = (expression); !result.has_value()) {      \
    return tl::unexpected<::espalier::Error>(result.error()); \
  }                                                           \
  static_assert(true)
#define ESPALIER_RETURN_IF_ERROR(expression) \
  ESPALIER_RETURN_IF_ERROR_INNER(ESPALIER_CONCAT(espalier_result_, __COUNTER__), expression)
