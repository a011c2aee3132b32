"""Tells a person, or a log, what is going on and for how long. Everything goes to stderr.

``Progress`` is what the rest of Tare sees: phases, which nest, and notes. Three renderers
show them: a live line for a terminal, plain lines for a log, JSON lines for a program.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.status import Status

Monotonic = Callable[[], float]


class Progress(Protocol):
    """What a long task reports to."""

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Return a context in which the phase ``name`` runs; it ends as failed when an error leaves it."""
        ...

    def note(self, text: str) -> None:
        """Say something worth knowing now that is not a phase."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """A phase that ended. ``began_seconds`` counts from the start of the command; ``path`` names the
    phase and those around it, outermost first."""

    path: tuple[str, ...]
    began_seconds: float
    seconds: float
    ok: bool

    def as_record(self) -> dict[str, object]:
        """Return what the run record says of it, to the millisecond."""
        return {
            "phase": list(self.path),
            "began_seconds": round(self.began_seconds, 3),
            "seconds": round(self.seconds, 3),
            "ok": self.ok,
        }


class Reporter:
    """Keeps the time of phases; a renderer says how they look. ``timings`` are in the order of ending."""

    def __init__(self, *, monotonic: Monotonic = time.monotonic) -> None:
        self._monotonic = monotonic
        self._began = monotonic()
        self._lock = threading.RLock()
        self._open: list[tuple[str, float]] = []
        self.timings: list[Timing] = []

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the command began."""
        return self._monotonic() - self._began

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        with self._lock:
            self._open.append((name, self.elapsed_seconds))
            self._render_begin()
        ok = False
        try:
            yield
            ok = True
        finally:
            with self._lock:
                path = tuple(opened for opened, _ in self._open)
                _, began = self._open.pop()
                timing = Timing(path=path, began_seconds=began, seconds=self.elapsed_seconds - began, ok=ok)
                self.timings.append(timing)
                self._render_end(timing)

    def note(self, text: str) -> None:
        with self._lock:
            self._render_note(text)

    def close(self) -> None:
        """Leave the terminal as it was found; safe to call at any time and more than once."""

    @property
    def _path(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._open)

    def _render_begin(self) -> None: ...

    def _render_end(self, timing: Timing) -> None: ...

    def _render_note(self, text: str) -> None: ...


class PlainProgress(Reporter):
    """Lines such as ``[  12.3 s] deploy runtime=runc``, for logs and pipes."""

    def __init__(self, stream: TextIO, *, monotonic: Monotonic = time.monotonic) -> None:
        super().__init__(monotonic=monotonic)
        self._stream = stream

    def _line(self, depth: int, text: str) -> None:
        stamp = f"[{self.elapsed_seconds:6.1f} s] "
        self._stream.write("".join(f"{stamp}{'  ' * depth}{line}\n" for line in text.splitlines()))
        self._stream.flush()

    def _render_begin(self) -> None:
        self._line(len(self._open) - 1, self._open[-1][0])

    def _render_end(self, timing: Timing) -> None:
        word = "done" if timing.ok else "FAILED"
        self._line(len(timing.path) - 1, f"{timing.path[-1]}: {word} ({timing.seconds:.1f} s)")

    def _render_note(self, text: str) -> None:
        self._line(len(self._open), text)


class JsonProgress(Reporter):
    """One JSON object a line: ``event`` is phase-begin, phase-end or note."""

    def __init__(self, stream: TextIO, *, monotonic: Monotonic = time.monotonic) -> None:
        super().__init__(monotonic=monotonic)
        self._stream = stream

    def _emit(self, event: str, **fields: object) -> None:
        record = {"event": event, "elapsed_seconds": round(self.elapsed_seconds, 3), **fields}
        self._stream.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._stream.flush()

    def _render_begin(self) -> None:
        self._emit("phase-begin", phase=self._path)

    def _render_end(self, timing: Timing) -> None:
        self._emit("phase-end", phase=timing.path, seconds=round(timing.seconds, 3), ok=timing.ok)

    def _render_note(self, text: str) -> None:
        self._emit("note", phase=self._path, text=text)


class RichProgress(Reporter):
    """A live line with the open phases and their elapsed time; what ended stands above it."""

    def __init__(self, stream: TextIO, *, monotonic: Monotonic = time.monotonic) -> None:
        from rich.console import Console

        super().__init__(monotonic=monotonic)
        self._console = Console(file=stream, highlight=False, soft_wrap=False)
        self._status: Status | None = None
        self._titled: set[int] = set()  # depths whose phase has its name printed already

    def close(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _show(self) -> None:
        from rich.status import Status

        if not self._open:
            self.close()
            return
        line = _OpenPhases(self)
        if self._status is None:
            self._status = Status(line, console=self._console)
            self._status.start()
        else:
            self._status.update(line)

    def _print(self, depth: int, mark: str, style: str, text: str, seconds: float | None = None) -> None:
        from rich.text import Text

        line = Text("  " * depth).append(f"{mark} ", style).append(text)
        if seconds is not None:
            line.append(f"  {seconds:.1f} s", "dim")
        self._console.print(line)

    def _render_begin(self) -> None:
        # An outer phase is printed once it has parts, so that they stand below its name.
        if len(self._open) > 1:
            outer = len(self._open) - 2
            if outer not in self._titled:
                self._print(outer, "•", "cyan", self._open[outer][0])
                self._titled.add(outer)
        self._show()

    def _render_end(self, timing: Timing) -> None:
        depth = len(timing.path) - 1
        self._titled.discard(depth)
        mark, style = ("✓", "green") if timing.ok else ("✗", "red")
        self._print(depth, mark, style, timing.path[-1], timing.seconds)
        self._show()

    def _render_note(self, text: str) -> None:
        for line in text.splitlines():
            self._print(len(self._open), "·", "dim", line)


class _OpenPhases:
    """The open phases as one line, computed anew at each refresh so that the time moves."""

    def __init__(self, reporter: RichProgress) -> None:
        self._reporter = reporter

    def __rich__(self) -> str:
        from rich.markup import escape

        now = self._reporter.elapsed_seconds
        opened = list(self._reporter._open)
        if not opened:
            return ""
        names = " / ".join(escape(name) for name, _ in opened)
        return f"{names}  [dim]{now - opened[-1][1]:.0f} s (of {now:.0f} s)[/dim]"


def choose(stream: TextIO, *, as_json: bool) -> Reporter:
    """Return the renderer that suits ``stream``: JSON lines if asked for, live on a terminal, else plain lines."""
    if as_json:
        return JsonProgress(stream)
    if stream.isatty():
        return RichProgress(stream)
    return PlainProgress(stream)
