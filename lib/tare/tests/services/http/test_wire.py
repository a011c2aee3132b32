"""The probes against OpenSSL's own server, and frames as the kernel delivers them."""

from __future__ import annotations

import functools
import os
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.cluster.network import open_socket
from tare.services.http import wire
from tare.services.http.packets import between

Start = Callable[..., Any]
IDENTITY = "spiffe://cluster.local/ns/http/sa/server"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\ntare plaintext"
FIRST, LAST = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def tls(file: Path, *, mutual: bool, lowest: ssl.TLSVersion = FIRST, highest: ssl.TLSVersion = LAST) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    context.minimum_version, context.maximum_version = lowest, highest
    if mutual:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(file)
    return context


def welcome(server: Any, **how: Any) -> wire.Welcome:
    return wire.without_certificate(socket.socket, "127.0.0.1", server.port, "/64", **how)


def test_a_mesh_refuses_a_stranger_and_shows_who_it_is(answering: Start, certificate: Start) -> None:
    server = answering(ANSWER, tls=tls(certificate(IDENTITY, "spiffe://other"), mutual=True))
    found = welcome(server)
    # In the words of the alert, or of the connection that is closed before the request is sent.
    assert found.refusal
    assert found.names == (IDENTITY, "spiffe://other")
    refused = server.heard()
    assert "PEER_DID_NOT_RETURN_A_CERTIFICATE" in refused


def test_before_tls_1_3_the_refusal_is_part_of_the_handshake(answering: Start, certificate: Start) -> None:
    found = welcome(answering(ANSWER, tls=tls(certificate(IDENTITY), mutual=True, highest=FIRST)))
    assert found.refusal is not None
    assert "HANDSHAKE_FAILURE" in found.refusal.upper().replace(" ", "_")
    assert found.names == ()


def test_who_asks_for_no_certificate_serves_a_stranger(answering: Start, certificate: Start) -> None:
    server = answering(ANSWER, tls=tls(certificate(), mutual=False))
    assert welcome(server) == wire.Welcome(refusal=None, names=())
    assert server.heard() == "GET /64 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def test_an_answer_of_another_kind_is_none(answering: Start, certificate: Start) -> None:
    found = welcome(answering(b"220 ready", tls=tls(certificate(IDENTITY), mutual=False)))
    assert found == wire.Welcome(refusal="answered b'220 ready'", names=(IDENTITY,))


def test_a_version_that_the_server_does_not_take(answering: Start, certificate: Start) -> None:
    server = answering(ANSWER, tls=tls(certificate(IDENTITY), mutual=False, lowest=LAST))
    found = welcome(server, highest=FIRST)
    assert found.refusal is not None
    assert "PROTOCOL_VERSION" in found.refusal  # as tests/test_mtls_overhead.py looks for it
    assert welcome(server).refusal is None


def test_a_server_without_tls_is_no_welcome(http_server: Start) -> None:
    found = welcome(http_server())
    assert found.refusal is not None
    assert found.names == ()


def test_nobody_is_no_welcome_either() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    found = wire.without_certificate(socket.socket, "127.0.0.1", port, "/64")
    assert "refused" in str(found.refusal)


def test_a_plain_request_is_answered(http_server: Start) -> None:
    server = http_server()
    assert wire.plain_request(socket.socket, "127.0.0.1", server.port, "/64") is None
    assert server.asked == ["/64 close"]


def test_a_plain_request_is_refused_by_tls(answering: Start, certificate: Start) -> None:
    server = answering(ANSWER, tls=tls(certificate(IDENTITY), mutual=True))
    assert wire.plain_request(socket.socket, "127.0.0.1", server.port, "/64")
    assert server.heard().startswith("refused: ")


def test_a_plain_request_is_refused_with_a_status(http_server: Start) -> None:
    refusal = wire.plain_request(socket.socket, "127.0.0.1", http_server().port, "/65")
    assert refusal is not None
    assert "status 404" in refusal


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a network of its own is root's to make")


def listener(network: str) -> socket.socket:
    """Return what listens where the server's pod would be."""
    found = open_socket(network)
    found.bind(("127.0.0.2", 0))
    found.listen(64)
    return found


@needs_root
def test_a_plain_body_is_seen_on_the_wire(network: str, http_server: Start) -> None:
    server = http_server(listener(network))
    of_network = functools.partial(open_socket, network)
    seen = wire.seen_between(
        of_client=of_network,
        of_server=of_network,
        client="127.0.0.1",
        server="127.0.0.2",
        url=f"http://127.0.0.2:{server.port}",
        path="/1024",
    )
    assert server.asked == ["/1024 close"] * 24
    # The loopback shows each frame as sent and as received.
    assert seen.readable >= 24
    assert seen.segments >= 2 * 24
    assert (seen.encrypted, seen.versions, seen.ports) == (0, frozenset(), {server.port})


@needs_root
@pytest.mark.parametrize(("highest", "version"), [(LAST, "TLS 1.3"), (FIRST, "TLS 1.2")])
def test_within_tls_no_body_is_seen(
    network: str, answering: Start, certificate: Start, highest: ssl.TLSVersion, version: str
) -> None:
    context = tls(certificate(IDENTITY), mutual=False, highest=highest)
    server = answering(ANSWER, tls=context, listening=listener(network))
    of_network = functools.partial(open_socket, network)
    found: list[wire.Welcome] = []
    frames = wire.watch(
        of_network,
        lambda: found.append(wire.without_certificate(of_network, "127.0.0.2", server.port, "/64")),
    )
    assert found == [wire.Welcome(refusal=None, names=(IDENTITY,))]  # the body did go over the wire
    seen = between(frames, client="127.0.0.1", server="127.0.0.2")
    assert (seen.readable, seen.versions, seen.ports) == (0, {version}, {server.port})
    assert seen.encrypted >= 2


@needs_root
def test_an_error_while_watching_ends_the_watch(network: str) -> None:
    before = threading.active_count()
    of_network = functools.partial(open_socket, network)
    with pytest.raises(ConnectionRefusedError):
        wire.seen_between(
            of_client=of_network,
            of_server=of_network,
            client="127.0.0.1",
            server="127.0.0.2",
            url="http://127.0.0.2:1",
            path="/64",
        )
    assert threading.active_count() == before
