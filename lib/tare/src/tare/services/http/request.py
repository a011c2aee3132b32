"""One real request, sent from where the client is."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

OpenSocket = Callable[..., socket.socket]


class _Connection(http.client.HTTPConnection):
    def __init__(self, open_socket: OpenSocket, host: str, port: int, timeout_seconds: float) -> None:
        super().__init__(host, port, timeout=timeout_seconds)
        self._open_socket = open_socket

    def connect(self) -> None:
        self.sock = self._open_socket()
        self.sock.settimeout(self.timeout)
        self.sock.connect((self.host, self.port))


def get(open_socket: OpenSocket, url: str, path: str, *, timeout_seconds: float) -> bytes:
    """Return the body of an answer with status 200. ``open_socket`` gives a TCP socket where the request begins.

    Raises OSError for any other answer too, which says what it was.
    """
    parts = urlsplit(url)
    with contextlib.closing(
        _Connection(open_socket, parts.hostname or "", parts.port or 80, timeout_seconds)
    ) as connection:
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            response = connection.getresponse()
            body = response.read()
        except http.client.HTTPException as error:
            raise ConnectionError(f"GET {url}{path}: {error!r}") from error
    if response.status != http.client.OK:
        raise ConnectionError(f"GET {url}{path}: status {response.status} {body[:200].decode(errors='replace')!r}")
    return body
