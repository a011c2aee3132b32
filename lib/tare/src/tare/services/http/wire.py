"""Looks at a deployment from outside: what goes over the wire, and how its server takes a stranger."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from cryptography import x509

from tare.services.http.packets import Seen, between
from tare.services.http.request import OpenSocket, get

_EVERY_PROTOCOL = 0x0003
_LONGEST_FRAME = 1 << 17
_DEADLINE_SECONDS = 3.0
# At once, so that a proxy needs more connections than it has open: their handshakes are to be seen.
_REQUESTS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcome:
    """How a server takes a TLS connection without a certificate: ``refusal`` is None when it answered a request.

    ``names`` are the URIs in its own certificate, empty when there was no handshake.
    """

    refusal: str | None
    names: tuple[str, ...]


def watch(open_socket: OpenSocket, act: Callable[[], None]) -> list[bytes]:
    """Return the frames on ``eth0``, where sockets are opened, while ``act`` runs, and a moment longer."""
    frames: list[bytes] = []
    stop = threading.Event()
    with open_socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERY_PROTOCOL)) as listener:
        listener.bind(("eth0", 0))
        listener.settimeout(0.1)

        def listen() -> None:
            while not stop.is_set():
                try:
                    frames.append(listener.recv(_LONGEST_FRAME))
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            act()
            time.sleep(0.2)
        finally:
            stop.set()
            thread.join()
    return frames


def seen_between(
    *, of_client: OpenSocket, of_server: OpenSocket, client: str, server: str, url: str, path: str
) -> Seen:
    """Return what the server's interface sees while the client calls it ``_REQUESTS`` times at once."""

    def call() -> None:
        with ThreadPoolExecutor(max_workers=_REQUESTS) as pool:
            list(pool.map(lambda _: get(of_client, url, path, timeout_seconds=_DEADLINE_SECONDS), range(_REQUESTS)))

    return between(watch(of_server, call), client=client, server=server)


def plain_request(open_socket: OpenSocket, address: str, port: int, path: str) -> str | None:
    """Send a request without TLS; return None when it was answered, else how it was refused."""
    try:
        get(open_socket, f"http://{address}:{port}", path, timeout_seconds=_DEADLINE_SECONDS)
    except OSError as error:
        return str(error) or type(error).__name__
    return None


def without_certificate(
    open_socket: OpenSocket,
    address: str,
    port: int,
    path: str,
    *,
    highest: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED,
) -> Welcome:
    """Begin TLS, of the highest version given, without a certificate of one's own, and send a request.

    With TLS 1.3 the refusal comes after the handshake, as the answer to what is sent (RFC 8446, section 4.4.2.4).
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.maximum_version = highest
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # a stranger knows no root of the mesh
    names: tuple[str, ...] = ()
    try:
        with open_socket() as plain:
            plain.settimeout(_DEADLINE_SECONDS)
            plain.connect((address, port))
            with context.wrap_socket(plain) as connection:
                names = _uris(connection.getpeercert(binary_form=True))
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
                answer = connection.recv(4096)
    except OSError as error:  # SSLError is one
        return Welcome(refusal=str(error), names=names)
    return Welcome(refusal=None if answer.startswith(b"HTTP/") else f"answered {answer[:40]!r}", names=names)


def _uris(certificate: bytes | None) -> tuple[str, ...]:
    if certificate is None:
        return ()
    extensions = x509.load_der_x509_certificate(certificate).extensions
    try:
        names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    return tuple(names.get_values_for_type(x509.UniformResourceIdentifier))
