"""What frames on a pod's interface tell: is the body readable, and which TLS was agreed on. Pure."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass

# What the server's files consist of (packages/http-server).
PLAINTEXT = b"tare plaintext"

_IPV4, _TCP = 0x0800, 6
_HANDSHAKE, _APPLICATION_DATA, _SERVER_HELLO, _SUPPORTED_VERSIONS = 0x16, 0x17, 2, 43
_VERSIONS = {0x0304: "TLS 1.3", 0x0303: "TLS 1.2", 0x0302: "TLS 1.1", 0x0301: "TLS 1.0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The payload of a TCP segment of IPv4, and whence and whither it went."""

    source: str
    source_port: int
    target: str
    target_port: int
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What went between two addresses: segments with a payload, those with readable text of the server's files, those
    that begin a record of encrypted data, the versions that servers agreed to, and the ports that were called."""

    segments: int
    readable: int
    encrypted: int
    versions: frozenset[str]
    ports: frozenset[int]


def segment(frame: bytes) -> Segment | None:
    """Return the TCP segment in an Ethernet frame; None for anything else, and without a payload."""
    if len(frame) < 54 or struct.unpack("!H", frame[12:14])[0] != _IPV4 or frame[23] != _TCP:
        return None
    packet = frame[14 : 14 + struct.unpack("!H", frame[16:18])[0]]
    tcp = packet[(packet[0] & 15) * 4 :]
    payload = tcp[(tcp[12] >> 4) * 4 :]
    if not payload:
        return None
    source_port, target_port = struct.unpack("!HH", tcp[:4])
    addresses = [str(ipaddress.ip_address(packet[at : at + 4])) for at in (12, 16)]
    return Segment(
        source=addresses[0], source_port=source_port, target=addresses[1], target_port=target_port, payload=payload
    )


def agreed_version(payload: bytes) -> str | None:
    """Return the version in a TLS ServerHello (RFC 8446, section 4.1.3) that the payload begins with, if it does."""
    if len(payload) < 44 or payload[0] != _HANDSHAKE or payload[5] != _SERVER_HELLO:
        return None
    version = struct.unpack("!H", payload[9:11])[0]
    at = 44 + payload[43] + 3  # past the session's name, the cipher and the compression
    end = at + 2 + struct.unpack("!H", payload[at : at + 2])[0] if len(payload) >= at + 2 else 0
    at += 2
    while at + 4 <= min(end, len(payload)):
        kind, length = struct.unpack("!HH", payload[at : at + 4])
        if kind == _SUPPORTED_VERSIONS and length == 2:
            version = struct.unpack("!H", payload[at + 4 : at + 6])[0]
        at += 4 + length
    return _VERSIONS.get(version, f"{version:#06x}")


def between(frames: Iterable[bytes], *, client: str, server: str) -> Seen:
    """Return what frames tell of the traffic of two addresses."""
    found = [each for frame in frames if (each := segment(frame)) and {each.source, each.target} == {client, server}]
    return Seen(
        segments=len(found),
        readable=sum(PLAINTEXT in each.payload for each in found),
        encrypted=sum(each.payload[0] == _APPLICATION_DATA and each.payload[1:2] == b"\x03" for each in found),
        versions=frozenset(version for each in found if (version := agreed_version(each.payload)) is not None),
        ports=frozenset(each.target_port for each in found if each.target == server),
    )
