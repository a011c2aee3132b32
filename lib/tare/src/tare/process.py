"""The one module that starts programs.

Programs are named by absolute path and get an argument list, an explicit environment and
a deadline. ``Commands`` is passed to whoever needs it, so that a test can pass a recorder.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tare.errors import CommandFailed, CommandTimeout, ProgramMissing

Argument = str | Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A program that ended: its exit code, what it printed, and how long it took (seconds)."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    seconds: float


class Child:
    """A program that is running; ends by TERM, a wait, then KILL of its process group."""

    def __init__(self, process: subprocess.Popen[bytes], argv: tuple[str, ...]) -> None:
        self._process = process
        self.argv = argv

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        return self._process.poll()

    def wait(self, *, deadline_seconds: float) -> int:
        """Return the exit code. Raises CommandTimeout, after killing it, when the deadline passes."""
        try:
            return self._process.wait(deadline_seconds)
        except subprocess.TimeoutExpired:
            self.stop(grace_seconds=2)
            raise CommandTimeout(self.argv, deadline_seconds) from None

    def stop(self, *, grace_seconds: float) -> None:
        """End the program and its process group: TERM, ``grace_seconds``, KILL."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, sign)
            try:
                self._process.wait(grace_seconds)
            except subprocess.TimeoutExpired:
                continue
        self._process.wait()


class Commands:
    """Runs programs. ``environment`` is all that a program sees unless a call adds to it."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = dict(environment or {"PATH": "", "LANG": "C.UTF-8"})

    def run(
        self,
        argv: Sequence[Argument],
        *,
        deadline_seconds: float,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
        cwd: Path | None = None,
        check: bool = True,
    ) -> Completed:
        """Run a program to its end and return what it printed.

        Raises CommandFailed on a non-zero exit code when ``check`` is true, CommandTimeout
        when it is not finished in time (its whole process group is killed), ProgramMissing.
        """
        words = tuple(str(word) for word in argv)
        began = time.monotonic()
        with self._popen(words, env, cwd, subprocess.PIPE, subprocess.PIPE, stdin is not None) as process:
            try:
                out, err = process.communicate(None if stdin is None else stdin.encode(), deadline_seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise CommandTimeout(words, deadline_seconds) from None
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        completed = Completed(
            argv=words,
            returncode=process.returncode,
            stdout=out.decode(errors="replace"),
            stderr=err.decode(errors="replace"),
            seconds=time.monotonic() - began,
        )
        if check and completed.returncode != 0:
            raise CommandFailed(words, completed.returncode, completed.stdout, completed.stderr)
        return completed

    def spawn(
        self,
        argv: Sequence[Argument],
        *,
        output: IO[bytes],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Child:
        """Start a program in a session of its own, its output going to ``output``."""
        words = tuple(str(word) for word in argv)
        return Child(self._popen(words, env, cwd, output, subprocess.STDOUT, False), words)

    def _popen(
        self,
        words: tuple[str, ...],
        env: Mapping[str, str] | None,
        cwd: Path | None,
        stdout: int | IO[bytes],
        stderr: int | IO[bytes],
        has_stdin: bool,
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                words,
                env={**self._environment, **(env or {})},
                cwd=cwd,
                stdin=subprocess.PIPE if has_stdin else subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise ProgramMissing(words[0]) from None
