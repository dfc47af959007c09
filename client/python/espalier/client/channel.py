"""The channel to a master: connects by itself, again and again. As proto/channel.cc has it."""

import grpc

from espalier import __version__
from espalier.client.encryption import Encryption
from espalier.errors import Unavailable

REQUEST_BYTES_MAX = 32 << 20  # a master takes no larger one
ANY_CALL = "/espalier.v1.InspectService/GetTrial"  # of no trial: the cheapest answer
NOT_LET_IN = ("Socket closed", "Connection reset", "Peer name", "andshake", "ertificate")  # of gRPC's words for it
OPTIONS = (
    ("grpc.primary_user_agent", f"espalier/{__version__}"),
    ("grpc.max_receive_message_length", -1),  # listings of large studies
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", 2_000),  # a master that says nothing is asked after the first, given up after the second
    ("grpc.keepalive_timeout_ms", 3_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.min_reconnect_backoff_ms", 200),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.enable_http_proxy", 0),
)


def open_channel(address: str, seconds: float, encryption: Encryption) -> grpc.Channel:
    """A connected one. Raises Unavailable if nobody answers within so long, InvalidArgument with the field of `encryption`."""
    options = list(OPTIONS)
    if encryption.server_name:
        options.append(("grpc.ssl_target_name_override", encryption.server_name))
    if encryption.applies(address):
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(*encryption.read()), options=options)
    else:
        channel = grpc.insecure_channel(address, options=options)
    ask = channel.unary_unary(ANY_CALL)
    try:
        ask(b"", wait_for_ready=True, timeout=seconds)
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            why = _why_not_let_in(ask)
            channel.close()
            raise Unavailable(_nobody_answers(address, why)) from None
    return channel  # whatever it is that was answered


def _why_not_let_in(ask) -> str:
    """Somebody listens there, and one of the two does not let the other in: then gRPC's words for it, else ""."""
    try:
        ask(b"", timeout=2)
    except grpc.RpcError as error:
        if any(word in error.details() for word in NOT_LET_IN):
            return error.details()
    return ""


def _nobody_answers(address: str, why_not_let_in: str) -> str:
    if not why_not_let_in:
        return f"no server answers at {address}; start one with: espalier up, or es.up()"
    return (f"the server at {address} and this program do not come together: if it encrypts, ca_file has to be its authority's, server_name whom its "
            f"certificate names, certificate_file yours if it asks for one; if it does not, it was being stopped or cut off: try again "
            f"({why_not_let_in})")  # fmt: skip
