"""What gRPC says of a call that failed, as an exception of this package. The one place that knows status codes."""

import grpc

from espalier import errors
from espalier.client.protocol import messages

DETAILS = "grpc-status-details-bin"

_EXCEPTIONS = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: errors.InvalidArgument,
    grpc.StatusCode.UNAUTHENTICATED: errors.Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: errors.Unauthenticated,
    grpc.StatusCode.NOT_FOUND: errors.NotFound,
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExists,
    grpc.StatusCode.FAILED_PRECONDITION: errors.FailedPrecondition,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.ResourceExhausted,
    grpc.StatusCode.ABORTED: errors.Aborted,
    grpc.StatusCode.UNIMPLEMENTED: errors.WrongVersion,
    grpc.StatusCode.UNAVAILABLE: errors.Unavailable,
    grpc.StatusCode.CANCELLED: errors.Unavailable,  # a server that stops cancels what it was doing
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.Unavailable,
}


def exception_of(error: grpc.RpcError, call: str) -> errors.Error:
    """`call`: its name, such as "CreateStudy"."""
    code, message = error.code(), error.details() or ""
    if code is grpc.StatusCode.UNIMPLEMENTED and DETAILS not in dict(error.trailing_metadata() or ()):  # gRPC's own answer
        return errors.WrongVersion(f"the server does not know {call}: it is of another version than this package; install the "
                                   "package that came with the server")  # fmt: skip
    if code is grpc.StatusCode.UNAUTHENTICATED:
        message += " (in Python: es.connect(token=...))"
    return _EXCEPTIONS.get(code, errors.Error)(message, _field_of(error))


def _field_of(error):
    details = dict(error.trailing_metadata() or ()).get(DETAILS, b"")
    try:
        return messages.ErrorDetail.FromString(details).field
    except Exception:  # protobuf's DecodeError has no stable place: a server's own details are none of ours
        return ""
