"""How what travels to a master and back is protected: by TLS, with certificates in PEM files. As proto/encryption.cc has it."""

import ipaddress
import os
import pathlib
from dataclasses import dataclass, fields

from espalier.errors import InvalidArgument

BEFORE_CERTIFICATES = b"-----BEGIN CERTIFICATE-----"
BEFORE_KEYS = (b"-----BEGIN PRIVATE KEY-----", b"-----BEGIN RSA PRIVATE KEY-----", b"-----BEGIN EC PRIVATE KEY-----")


@dataclass(frozen=True)
class Encryption:
    """Beyond this machine calls are encrypted, unless `plaintext` says otherwise; to a loopback address they are where one of the others
    is set; through a Unix socket never."""

    ca_file: str = ""  # of the authorities whose certificates masters may show; empty: those that gRPC brings
    certificate_file: str = ""  # the caller's own, for a master that asks for it; with key_file
    key_file: str = ""
    server_name: str = ""  # whom the master's certificate names; empty: the address's host
    plaintext: bool = False  # whoever listens in on the way may read tokens and data, and use them

    @classmethod
    def given(cls, **said: str | os.PathLike | bool | None) -> "Encryption":
        """What is said, else the environment's ESPALIER_CA_FILE and so on; ESPALIER_PLAINTEXT is 1."""
        values = {}
        for field in fields(cls):
            value = said.pop(field.name, None)
            value = os.environ.get(f"ESPALIER_{field.name.upper()}", "") if value is None else value
            values[field.name] = value in (True, "1") if field.name == "plaintext" else os.fspath(value)
        return cls(**values)

    def applies(self, address: str) -> bool:
        """Whether calls to it are encrypted. Raises InvalidArgument for what contradicts itself."""
        names_some = bool(self.ca_file or self.certificate_file or self.key_file or self.server_name)
        if self.plaintext and names_some:
            raise InvalidArgument("is set, and so is what encryption takes; leave out one of them", "plaintext")
        if _is_socket(address) or (not names_some and (self.plaintext or is_on_this_machine(address))):
            return False
        if not self.server_name and len(_hosts(address)) > 1:
            raise InvalidArgument("is required where an address is several masters': what the certificate of each of them names", "server_name")
        return True

    def read(self) -> tuple[bytes | None, bytes | None, bytes | None]:
        """Authorities, key and certificate, as gRPC takes them. Raises InvalidArgument with the field."""
        authorities = _read(self.ca_file, "ca_file", BEFORE_CERTIFICATES) if self.ca_file else None
        if not self.certificate_file and not self.key_file:
            return authorities, None, None
        if not self.certificate_file:
            raise InvalidArgument("is required beside key_file", "certificate_file")
        if not self.key_file:
            raise InvalidArgument("is required beside certificate_file", "key_file")
        certificate = _read(self.certificate_file, "certificate_file", BEFORE_CERTIFICATES)
        return authorities, _read(self.key_file, "key_file", *BEFORE_KEYS), certificate


def is_on_this_machine(address: str) -> bool:
    """True of a Unix socket, and of an address whose hosts are all loopback ones."""
    return _is_socket(address) or all(map(_is_loopback, _hosts(address)))


def _is_socket(address: str) -> bool:
    return address.startswith(("unix:", "unix-abstract:"))


def _hosts(address: str) -> list[str]:
    if address.startswith(("ipv4:", "ipv6:", "dns:")):
        address = address.partition(":")[2].rpartition("/")[2]
    return [each[1:].partition("]")[0] if each.startswith("[") else each.rpartition(":")[0] or each for each in address.split(",")]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read(file: str, field: str, *begins: bytes) -> bytes:
    try:
        pem = pathlib.Path(file).expanduser().read_bytes()
    except OSError as error:
        raise InvalidArgument(f"cannot read {file}: {error.strerror}", field) from None
    if not any(begin in pem for begin in begins):
        kind = "certificate" if BEFORE_CERTIFICATES in begins else "private key"
        raise InvalidArgument(f"{file} holds no {kind} in PEM form" + ("" if kind == "certificate" else " without a pass phrase"), field)
    return pem
