"""Runs the steps of a bring-up: each as soon as the steps it needs have ended, side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A piece of work; ``needs`` names steps that stand before it in the list."""

    name: str
    run: Callable[[], None]
    needs: tuple[str, ...] = ()


class Running:
    """Steps under way. ``seconds`` tells, from the start, when each ended step began and ended."""

    def __init__(self, steps: Sequence[Step], pool: ThreadPoolExecutor, stop: threading.Event) -> None:
        self._began = time.monotonic()
        self._stop = stop
        self._futures: dict[str, Future[None]] = {}
        self.seconds: dict[str, tuple[float, float]] = {}
        for step in steps:
            needed = [self._futures[name] for name in step.needs]
            self._futures[step.name] = pool.submit(self._run, step, needed)

    def wait_for(self, *names: str) -> None:
        """Wait until the named steps have ended. Raises what a failed step, of all of them, raised."""
        left = {self._futures[name] for name in names}
        while left:
            left = wait(left, timeout=0.1).not_done
            self._raise_failure()

    def _run(self, step: Step, needed: list[Future[None]]) -> None:
        for future in needed:
            future.result()
        if self._stop.is_set():
            raise CancelledError
        began = time.monotonic()
        try:
            step.run()
        except BaseException:
            self._stop.set()
            raise
        self.seconds[step.name] = (began - self._began, time.monotonic() - self._began)

    def _raise_failure(self) -> None:
        errors = [future.exception() for future in self._futures.values() if future.done()]
        for error in errors:
            if error is not None and not isinstance(error, CancelledError):
                raise error


@contextmanager
def running(steps: Sequence[Step], stop: threading.Event) -> Iterator[Running]:
    """Start the steps; at the end of the context those that have begun are waited for, no other begins.

    ``stop`` is set when a step fails or the context ends, for long steps to look at.
    """
    # A thread for each: one that waits for another does nothing else.
    with ThreadPoolExecutor(max_workers=max(1, len(steps))) as pool:
        try:
            yield Running(steps, pool, stop)
        finally:
            stop.set()
