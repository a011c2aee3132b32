"""Signals to a real process: the first lets the lab be taken down, the second ends at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = """
import sys, time
from tare.cli.interrupt import Interrupted, interruptible
from tare.progress import PlainProgress

progress = PlainProgress(sys.stderr)
try:
    with interruptible("kata-hlf", progress):
        try:
            print("working", flush=True)
            time.sleep(30)
        finally:
            print("taking down", flush=True)
            time.sleep(float(sys.argv[1]))
            print("taken down", flush=True)
except Interrupted as interrupt:
    sys.exit(128 + interrupt.number)
"""


@pytest.fixture
def start() -> Iterator[object]:
    started: list[subprocess.Popen[str]] = []

    def begin(teardown_seconds: float) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(teardown_seconds)],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None and process.stdout.readline() == "working\n"
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_signal_takes_the_lab_down(start: object, number: signal.Signals) -> None:
    process = start(0.0)  # type: ignore[operator]
    process.send_signal(number)
    out, _ = process.communicate(timeout=10)
    assert out == "taking down\ntaken down\n"
    assert process.returncode == 128 + number


def test_two_signals_say_how_to_remove_the_rest(start: object) -> None:
    process = start(30.0)  # type: ignore[operator]
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "taking down\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert out == ""
    assert "interrupted again while taking kata-hlf down: `tare down kata-hlf` removes the rest" in err
    assert process.returncode == 130
