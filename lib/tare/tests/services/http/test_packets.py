from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.services.http.packets import agreed_version, between, segment

CLIENT, SERVER = "198.18.1.2", "198.18.2.3"


def frame(
    payload: bytes, *, source: str = CLIENT, target: str = SERVER, ports: tuple[int, int] = (40000, 8080)
) -> bytes:
    tcp = struct.pack("!HHIIBBHHH", *ports, 0, 0, 5 << 4, 0x18, 0, 0, 0) + payload
    addresses = socket.inet_aton(source) + socket.inet_aton(target)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + addresses
    return bytes(12) + b"\x08\x00" + ip + tcp


def handshake(highest: ssl.TLSVersion, certificate: Path) -> bytes:
    """Return what OpenSSL's server sends first."""
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(certificate)
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.verify_mode = ssl.CERT_NONE
    client_context.maximum_version = highest
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server)
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server):
        with pytest.raises(ssl.SSLWantReadError):
            side.do_handshake()
    return to_client.read()


@pytest.mark.parametrize(
    ("highest", "expected"), [(ssl.TLSVersion.TLSv1_3, "TLS 1.3"), (ssl.TLSVersion.TLSv1_2, "TLS 1.2")]
)
def test_the_version_is_the_one_that_openssl_agreed_to(
    highest: ssl.TLSVersion, expected: str, certificate: Callable[..., Path]
) -> None:
    assert agreed_version(handshake(highest, certificate())) == expected


def test_what_goes_between_two_addresses() -> None:
    frames = [
        frame(b"GET /64 HTTP/1.1\r\n"),
        frame(b"HTTP/1.1 200 OK\r\n\r\ntare plaintext", source=SERVER, target=CLIENT, ports=(8080, 40000)),
        frame(b"\x17\x03\x03\x00\x05hello"),
        frame(b""),
        frame(b"tare plaintext", source="198.18.9.9"),
        b"too short",
    ]
    seen = between(frames, client=CLIENT, server=SERVER)
    assert (seen.segments, seen.readable, seen.encrypted) == (3, 1, 1)
    assert (seen.versions, seen.ports) == (frozenset(), {8080})


@given(st.binary(max_size=200))
def test_nothing_on_the_wire_breaks_it(noise: bytes) -> None:
    assert agreed_version(noise) is None or noise[0] == 0x16
    found = segment(frame(noise))
    assert (found.payload if found else b"") == noise


@given(st.binary(max_size=150))
def test_what_follows_a_server_hello_may_be_anything(noise: bytes) -> None:
    agreed_version(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03" + noise)
