"""The connection to the API server, against a server of ours with the lab's own kind of certificates."""

from __future__ import annotations

import json
import os
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tare.cluster import api as module
from tare.cluster.api import Api
from tare.cluster.pki import Authority

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a socket in a network namespace is root's to open")


@dataclass
class Served:
    """What a server was asked, and on how many connections."""

    api: Api
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    connections: int = 0
    # Closes after each answer, without a word of it.
    hangs_up: bool = False


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    authority = Authority(tmp_path)
    server_identity = authority.issue(tmp_path / "server", "server", addresses=["127.0.0.1"])
    client_identity = authority.issue(tmp_path / "client", "client")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            found.connections += 1

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
            found.requests.append((self.command, self.path, body))
            status = {"/gone": 404, "/forbidden": 403}.get(self.path, 200)
            text = json.dumps({"accept": self.headers["Accept"]}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            self.close_connection = found.hangs_up

        do_GET = do_DELETE = answer

        def log_message(self, format: str, *arguments: object) -> None: ...

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "ca.crt"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(server_identity.certificate, server_identity.key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    monkeypatch.setattr(module, "_PORT", server.server_address[1])
    found = Served(
        api=Api(
            namespace="/proc/self/ns/net",
            address="127.0.0.1",
            authority=tmp_path / "ca.crt",
            identity=client_identity,
        )
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield found
    server.shutdown()
    server.server_close()


def test_requests_that_follow_one_another_share_a_connection(served: Served) -> None:
    assert [served.api.get("/version", accept=accept)["accept"] for accept in ("a/b", "c/d")] == ["a/b", "c/d"]
    served.api.delete("/pods", {"gracePeriodSeconds": 1})
    assert served.connections == 1
    assert served.requests[-1] == ("DELETE", "/pods", '{"gracePeriodSeconds": 1}')


def test_a_connection_that_the_server_has_closed_is_made_anew(served: Served) -> None:
    served.hangs_up = True
    for _ in range(3):
        served.api.get("/version")
    assert served.connections == 3
    assert len(served.requests) == 3


def test_requests_at_one_moment_have_connections_of_their_own(served: Served) -> None:
    threads = [threading.Thread(target=served.api.get, args=["/version"]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(served.requests) == 8


def test_what_is_not_there_is_told_when_read_and_fine_when_deleted(served: Served) -> None:
    with pytest.raises(FileNotFoundError, match="GET /gone: 404"):
        served.api.get("/gone")
    served.api.delete("/gone")
    assert served.requests[-1][:2] == ("DELETE", "/gone")


@pytest.mark.parametrize("ask", [Api.get, Api.delete])
def test_a_refusal_is_an_error(served: Served, ask: object) -> None:
    with pytest.raises(ConnectionError, match="/forbidden: 403"):
        ask(served.api, "/forbidden")  # type: ignore[operator]
