"""Signals: the first ends the work and lets everything be taken down, the second ends at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tare.progress import Reporter

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked the command to end. Not an Exception, so that nothing takes it for a failed step."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(self.name)

    @property
    def name(self) -> str:
        return signal.Signals(self.number).name


@contextmanager
def interruptible(lab: str, progress: Reporter) -> Iterator[None]:
    """Raise Interrupted at the first signal; at the second say how to remove the rest, and end the process."""
    seen = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        if not seen:
            seen = True
            # Raised where the work is, so that its contexts close and the lab is taken down on the way out.
            raise Interrupted(number)
        progress.close()
        sys.stderr.write(
            f"\ninterrupted again while taking {lab} down: `tare down {lab}` removes the rest\n",
        )
        sys.stderr.flush()
        os._exit(128 + number)

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
