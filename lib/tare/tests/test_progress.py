from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
from concurrent.futures import ThreadPoolExecutor
from typing import IO

import pytest

from tare.progress import JsonProgress, PlainProgress, Reporter, RichProgress, Timing, choose


class Ticking:
    """A clock that moves by a second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def work(progress: Reporter) -> None:
    with progress.phase("bring up"):
        with progress.phase("etcd"):
            progress.note("port 2379\npeer 2380")
        with pytest.raises(OSError), progress.phase("kubelet"):
            raise OSError("no")
    progress.close()


def test_plain_lines_have_time_depth_and_outcome() -> None:
    stream = io.StringIO()
    work(PlainProgress(stream, monotonic=Ticking()))
    lines = stream.getvalue().splitlines()
    assert all(re.match(r"\[ +\d+\.\d s\] ", line) for line in lines)
    assert [re.sub(r"^\[.*?\] |\(.*", "", line) for line in lines] == [
        "bring up",
        "  etcd",
        "    port 2379",
        "    peer 2380",
        "  etcd: done ",
        "  kubelet",
        "  kubelet: FAILED ",
        "bring up: done ",
    ]


def test_json_lines_are_one_object_each() -> None:
    stream = io.StringIO()
    work(JsonProgress(stream, monotonic=Ticking()))
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [event["event"] for event in events] == [
        "phase-begin",
        "phase-begin",
        "note",
        "phase-end",
        "phase-begin",
        "phase-end",
        "phase-end",
    ]
    assert events[2] | {"elapsed_seconds": 0} == {
        "event": "note",
        "elapsed_seconds": 0,
        "phase": ["bring up", "etcd"],
        "text": "port 2379\npeer 2380",
    }
    assert [event["ok"] for event in events if event["event"] == "phase-end"] == [True, False, True]


def test_timings_are_kept_with_their_path() -> None:
    progress = Reporter(monotonic=Ticking())
    work(progress)
    assert [(timing.path, timing.ok) for timing in progress.timings] == [
        (("bring up", "etcd"), True),
        (("bring up", "kubelet"), False),
        (("bring up",), True),
    ]
    assert all(timing.seconds > 0 for timing in progress.timings)


def test_a_timing_stands_in_the_record_to_the_millisecond() -> None:
    timing = Timing(path=("bring up", "etcd"), began_seconds=1.23456, seconds=0.0009, ok=False)
    assert timing.as_record() == {"phase": ["bring up", "etcd"], "began_seconds": 1.235, "seconds": 0.001, "ok": False}


def read_all(terminal: IO[bytes]) -> str:
    """Return what was written to a terminal, once its other side is closed: the kernel then answers EIO."""
    shown = b""
    with contextlib.suppress(OSError):
        while piece := terminal.read(4096):
            shown += piece
    return shown.decode()


def test_a_terminal_sees_the_phases_and_gets_its_cursor_back() -> None:
    """On a real pseudo-terminal, as a person has it."""
    leader, follower = pty.openpty()
    with ThreadPoolExecutor(max_workers=1) as reader, os.fdopen(leader, "rb", buffering=0) as terminal:
        seen = reader.submit(read_all, terminal)
        with os.fdopen(follower, "w") as stream:
            progress = choose(stream, as_json=False)
            assert isinstance(progress, RichProgress)
            work(progress)
            progress.close()
        shown = seen.result(timeout=10)
    assert "\x1b[?25l" in shown  # hidden while the live line is up
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    for line in ("• bring up", "✓ etcd", "✗ kubelet", "✓ bring up"):
        assert line in plain


def test_what_is_not_a_terminal_gets_plain_lines() -> None:
    assert isinstance(choose(io.StringIO(), as_json=False), PlainProgress)
    assert isinstance(choose(io.StringIO(), as_json=True), JsonProgress)
