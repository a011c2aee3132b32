"""What is wrong with the output of a load generator."""

from __future__ import annotations

from tare.errors import TareError


class OutputError(TareError):
    """Output of a load generator is not as expected; ``source`` and ``line`` (from 1) say where."""

    def __init__(self, source: str, line: int, expected: str, found: str) -> None:
        self.source = source
        self.line = line
        super().__init__(f"{source}:{line}: expected {expected}, found {found[:120]!r}")
