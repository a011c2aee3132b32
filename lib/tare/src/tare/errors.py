"""What can go wrong, as types: one base, each error carrying the object it is about."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


class TareError(Exception):
    """Base of every error Tare raises on purpose.

    ``exit_code`` is what the command line ends with: 2 for a mistake in the call,
    3 for a fault of the machine or of something Tare started.
    """

    exit_code = 3


class UsageError(TareError):
    """The call, an option or an input file is wrong; nothing was changed."""

    exit_code = 2


class ManifestError(UsageError):
    """A lab manifest does not have the shape this version of Tare reads."""


class CommandFailed(TareError):
    """A program ended with an error; the message can be pasted into a shell."""

    def __init__(self, argv: Sequence[str], returncode: int, stdout: str, stderr: str) -> None:
        self.argv = tuple(argv)
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr
        tail = (stderr.strip() or stdout.strip() or "(no output)")[-2000:]
        super().__init__(f"exit code {returncode}: {shlex.join(argv)}\n{tail}")


class CommandTimeout(TareError):
    """A program did not end before its deadline and was killed."""

    def __init__(self, argv: Sequence[str], deadline_seconds: float) -> None:
        self.argv = tuple(argv)
        self.deadline_seconds = deadline_seconds
        super().__init__(f"not finished after {deadline_seconds:g} s: {shlex.join(argv)}")


class ProgramMissing(TareError):
    """A program that the manifest names is not there."""

    def __init__(self, program: str) -> None:
        self.program = program
        super().__init__(f"program not found: {program}")


class NotReady(TareError):
    """Something did not become ready in time; carries the last thing that was seen."""

    def __init__(self, what: str, waited_seconds: float, last_seen: str) -> None:
        self.what = what
        self.waited_seconds = waited_seconds
        self.last_seen = last_seen
        super().__init__(f"{what} not ready after {waited_seconds:.1f} s; last seen: {last_seen}")
