"""Requests over real sockets to real servers on the loopback."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from tare.services.http.request import get

Start = Callable[..., Any]


def test_the_body_of_an_answer(http_server: Start) -> None:
    server = http_server()
    body = get(socket.socket, server.url, "/64", timeout_seconds=2)
    assert body == b"tare plaintext\ntare plaintext\ntare plaintext\ntare plaintext\ntare"
    assert server.asked == ["/64 close"]


def test_a_socket_is_opened_for_each_request_where_it_begins(http_server: Start) -> None:
    opened: list[socket.socket] = []

    def open_socket() -> socket.socket:
        opened.append(socket.socket())
        return opened[-1]

    server = http_server()
    for _ in range(3):
        get(open_socket, server.url, "/64", timeout_seconds=2)
    assert len(opened) == 3
    assert [each.fileno() for each in opened] == [-1, -1, -1]  # closed


def test_another_status_is_an_error_that_says_which(http_server: Start) -> None:
    server = http_server()
    with pytest.raises(OSError, match=rf"GET {server.url}/65: status 404 'not here'"):
        get(socket.socket, server.url, "/65", timeout_seconds=2)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"t\r\n\r\n", "BadStatusLine"),
        (b"", "RemoteDisconnected"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\ntare", "IncompleteRead"),
    ],
)
def test_what_is_no_answer_is_an_error_that_shows_it(answering: Start, answer: bytes, problem: str) -> None:
    server = answering(answer)
    with pytest.raises(OSError, match=problem):
        get(socket.socket, server.url, "/64", timeout_seconds=2)
    assert server.heard().startswith("GET /64 HTTP/1.1\r\n")


def test_nobody_listens_or_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(TimeoutError):
            get(socket.socket, f"http://127.0.0.1:{port}", "/64", timeout_seconds=0.1)
    with pytest.raises(ConnectionRefusedError):
        get(socket.socket, f"http://127.0.0.1:{port}", "/64", timeout_seconds=2)
