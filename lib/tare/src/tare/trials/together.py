"""Two trials at the same moment: each in a thread of its own, their loads started together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from tare.errors import UsageError

# How often what does not end by itself is told to, after the other has failed or the command is interrupted.
_STOP_SECONDS = 0.5

T = TypeVar("T")


class Parted(UsageError):
    """One trial of a pair began a load that the other did not: it failed, or its trial function has fewer loads."""

    def __init__(self) -> None:
        super().__init__(
            "the two trials of a duet drove different loads: let the trial function drive the same loads, in the same "
            "order, at every level, or leave duet=True out"
        )


class Start:
    """Where the trials of a pair wait for each other: ``together`` returns in all of them at the same moment."""

    def __init__(self, trials: int) -> None:
        # A barrier would not do: when a fast trial leaves it, those that are still waking up take it for broken.
        self._changed = threading.Condition()
        self._trials = trials
        self._waiting = 0
        self._starts = 0
        self._left = False

    def together(self) -> None:
        """Wait for the others. Raises Parted when one of them will not come, because it has ended."""
        with self._changed:
            mine = self._starts
            self._waiting += 1
            if self._waiting == self._trials:
                self._waiting = 0
                self._starts += 1
                self._changed.notify_all()
            self._changed.wait_for(lambda: self._starts > mine or self._left)
            if self._starts == mine:
                raise Parted

    def leave(self) -> None:
        """Let nobody wait for a trial that has ended."""
        with self._changed:
            self._left = True
            self._changed.notify_all()


def at_once(work: Sequence[Callable[[], T]], *, stop: Callable[[], None]) -> list[T]:
    """Run every piece of work in a thread of its own and return what each returns.

    When one raises, or this thread is interrupted, ``stop`` is called until the others have ended too, and the first
    error that is not only about the other is raised.
    """
    with ThreadPoolExecutor(max_workers=len(work), thread_name_prefix="trial") as pool:
        futures = [pool.submit(each) for each in work]
        try:
            first = wait(futures, return_when=FIRST_EXCEPTION).done
        finally:
            while not all(future.done() for future in futures):
                stop()
                wait(futures, timeout=_STOP_SECONDS)
    # Not those of the others: they were told to stop.
    errors = [error for future in first if (error := future.exception()) is not None]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, Parted))
    return [future.result() for future in futures]
