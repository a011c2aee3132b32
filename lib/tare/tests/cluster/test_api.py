from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare.cluster.api import describe_pods, is_true, wait_until
from tare.errors import NotReady, TareError

DATA = Path(__file__).parent.parent / "data" / "cluster"


def test_what_keeps_pods_from_being_ready() -> None:
    pods = json.loads((DATA / "pods-not-ready.json").read_text())["items"]
    text = describe_pods(pods)
    assert "crashes: Running (c Error)" in text
    assert 'no-image: Pending (c ErrImageNeverPull Container image "tare.local/none:1" is not present' in text
    assert "too-big: Pending (0/2 nodes are available: 2 Insufficient cpu." in text
    assert describe_pods([]) == "no pod"
    assert not any(is_true(pod, "Ready") for pod in pods)


def test_waiting_ends_when_nothing_is_missing() -> None:
    answers: list[str | None] = ["a", "b", None]
    wait_until("it", lambda: answers.pop(0), timeout_seconds=5, interval_seconds=0)
    assert answers == []


def test_waiting_tells_what_was_seen_last() -> None:
    def refuse() -> str | None:
        raise ConnectionRefusedError("nobody listens")

    with pytest.raises(NotReady, match=r"it not ready after 0\.\d s; last seen: nobody listens"):
        wait_until("it", refuse, timeout_seconds=0.1)


def test_waiting_ends_early_when_it_is_useless() -> None:
    def check() -> None:
        raise TareError("it is dead")

    with pytest.raises(TareError, match="it is dead"):
        wait_until("it", lambda: "not yet", timeout_seconds=30, check=check)
