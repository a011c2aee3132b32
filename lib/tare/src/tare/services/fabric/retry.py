"""Trying again while a network comes up, and doing two things at once."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from tare.errors import CommandFailed, CommandTimeout, NotReady

# What Fabric's tools print while a member, its address or the raft leader is not there yet.
_TRANSIENT = re.compile(
    r"connection refused|connection reset|unreachable|no route to host|handshake|\bEOF\b|"
    r"i/o timeout|deadline exceeded|unavailable|no raft leader",
    re.IGNORECASE,
)
_PAUSE_SECONDS = 0.25
_CHECK_SECONDS = 2.0

ResultT = TypeVar("ResultT")


class Abandoned(Exception):
    """Another of the things done at once has failed, so this one is given up."""


class Patience:
    """A deadline shared by many steps, and ways to give up early. ``seconds`` counts from now.

    ``check`` is called now and then while something is tried again, and raises when there is
    no hope left.
    """

    def __init__(
        self,
        seconds: float,
        *,
        check: Callable[[], None] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._began = monotonic()
        self._seconds = seconds
        self._abandoned = threading.Event()
        self._check = check
        self._checking = threading.Lock()
        self._next_check = self._began + _CHECK_SECONDS

    @property
    def left_seconds(self) -> float:
        return self._began + self._seconds - self._monotonic()

    def abandon(self) -> None:
        """Make every step that is being tried again give up."""
        self._abandoned.set()

    def insist(self, what: str, step: Callable[[], ResultT]) -> ResultT:
        """Return what ``step`` returns, trying again after failures that pass by themselves.

        Raises NotReady when the deadline passes, what ``check`` raises, and CommandFailed at once for
        any other failure.
        """
        while True:
            try:
                return step()
            except (CommandFailed, CommandTimeout) as error:
                if isinstance(error, CommandFailed) and not _TRANSIENT.search(error.stderr + error.stdout):
                    raise
                if self.left_seconds <= 0:
                    raise NotReady(what, self._seconds, _reason(error)) from error
            self._look()
            if self._abandoned.wait(_PAUSE_SECONDS):
                raise Abandoned(what)

    def together(self, steps: Sequence[Callable[[], None]]) -> None:
        """Run steps at once and return when all have ended. The first failure ends the others and is raised."""
        with ThreadPoolExecutor(max_workers=len(steps), thread_name_prefix="fabric") as pool:
            futures: list[Future[None]] = [pool.submit(step) for step in steps]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            except BaseException:
                self.abandon()
                raise
            if any(future.exception() for future in done):
                self.abandon()
        failures = [error for future in futures if (error := future.exception()) is not None]
        for failure in failures:
            if not isinstance(failure, Abandoned):
                raise failure

    def _look(self) -> None:
        # One at a time is enough, however many steps are being tried again.
        if self._monotonic() >= self._next_check and self._checking.acquire(blocking=False):
            try:
                self._check()
                self._next_check = self._monotonic() + _CHECK_SECONDS
            finally:
                self._checking.release()


def _reason(error: CommandFailed | CommandTimeout) -> str:
    """Return the line that tells most: Fabric's tools print their usage after the error itself."""
    lines = str(error).splitlines()
    return next((line for line in lines[1:] if "error" in line.lower()), lines[-1])
