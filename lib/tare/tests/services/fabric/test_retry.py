from __future__ import annotations

import threading
import time

import pytest

from tare.errors import CommandFailed, NotReady
from tare.services.fabric.retry import Patience


def failure(text: str) -> CommandFailed:
    return CommandFailed(["peer", "channel", "join"], 1, "", text)


def test_a_passing_failure_is_tried_again() -> None:
    answers: list[str | Exception] = [
        failure("error: connection refused"),
        failure("BAD REQUEST: no Raft leader"),
        "done",
    ]

    def step() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert Patience(60).insist("peer", step) == "done"
    assert answers == []


def test_another_failure_is_raised_at_once() -> None:
    def step() -> None:
        raise failure("access denied")

    began = time.monotonic()
    with pytest.raises(CommandFailed, match="access denied"):
        Patience(60).insist("peer", step)
    assert time.monotonic() - began < 1


def test_a_check_that_finds_no_hope_ends_the_trying() -> None:
    now = [0.0]

    def step() -> None:
        now[0] += 1.0
        raise failure("connection refused")

    def check() -> None:
        raise RuntimeError("peer-org1-1 ended")

    with pytest.raises(RuntimeError, match="peer-org1-1 ended"):
        Patience(60, check=check, monotonic=lambda: now[0]).insist("peer", step)
    assert 2 <= now[0] < 5


def test_patience_ends_with_what_was_last_seen() -> None:
    def step() -> None:
        raise failure("dial tcp: connection refused")

    with pytest.raises(
        NotReady, match=r"peer-1 \(join\) not ready after 0\.0 s; last seen: dial tcp: connection refused"
    ):
        Patience(0).insist("peer-1 (join)", step)


def test_steps_run_at_once() -> None:
    barrier = threading.Barrier(3, timeout=5)
    Patience(60).together([lambda: barrier.wait() and None] * 3)


def test_the_first_failure_ends_the_others_and_is_raised() -> None:
    def broken() -> None:
        raise failure("access denied")

    patience = Patience(60)

    def hopeless() -> None:
        def step() -> None:
            raise failure("connection refused")

        patience.insist("peer", step)

    began = time.monotonic()
    with pytest.raises(CommandFailed, match="access denied"):
        patience.together([hopeless, broken, hopeless])
    assert time.monotonic() - began < 5
