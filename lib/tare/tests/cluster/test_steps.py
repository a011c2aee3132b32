from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import pytest

from tare.cluster.steps import Step, running


def test_a_step_waits_for_those_it_needs_and_for_no_other() -> None:
    order: list[str] = []
    both = threading.Barrier(2, timeout=5)  # passed only if a and b run side by side

    def meet(name: str) -> None:
        both.wait()
        order.append(name)

    steps = [
        Step(name="a", run=lambda: meet("a")),
        Step(name="b", run=lambda: meet("b")),
        Step(name="c", run=lambda: order.append("c"), needs=("a", "b")),
    ]
    with running(steps, threading.Event()) as under_way:
        under_way.wait_for("c")
    assert order[-1] == "c"
    assert set(under_way.seconds) == {"a", "b", "c"}
    assert under_way.seconds["c"][0] >= under_way.seconds["a"][1]


def test_a_failure_is_raised_wherever_one_waits_and_what_needs_it_does_not_run() -> None:
    ran: list[str] = []

    def fail() -> None:
        raise ValueError("no")

    steps = [
        Step(name="bad", run=fail),
        Step(name="after", run=lambda: ran.append("after"), needs=("bad",)),
        Step(name="long", run=lambda: None, needs=()),
    ]
    with pytest.raises(ValueError, match="no"), running(steps, threading.Event()) as under_way:
        under_way.wait_for("after")
    assert ran == []


def test_long_steps_are_told_to_stop() -> None:
    stop = threading.Event()

    def wait() -> None:
        assert stop.wait(5)
        raise CancelledError

    steps = [Step(name="long", run=wait), Step(name="after", run=lambda: None, needs=("long",))]
    with pytest.raises(KeyboardInterrupt), running(steps, stop):
        raise KeyboardInterrupt
