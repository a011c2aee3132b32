"""One real request, sent from where the client is."""

from __future__ import annotations

import contextlib
import http.client
from urllib.parse import urlsplit

from tare.cluster.network import open_socket


class _Connection(http.client.HTTPConnection):
    def __init__(self, namespace: str, host: str, port: int, timeout_seconds: float) -> None:
        super().__init__(host, port, timeout=timeout_seconds)
        self._namespace = namespace

    def connect(self) -> None:
        self.sock = open_socket(self._namespace)
        self.sock.settimeout(self.timeout)
        self.sock.connect((self.host, self.port))


def get(namespace: str, url: str, path: str, *, timeout_seconds: float) -> bytes:
    """Return the body of an answer with status 200. ``namespace`` is a network namespace's file.

    Raises OSError for any other answer too, which says what it was.
    """
    parts = urlsplit(url)
    with contextlib.closing(
        _Connection(namespace, parts.hostname or "", parts.port or 80, timeout_seconds)
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
