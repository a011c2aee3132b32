"""What is wrong with a pin, as a value, so that all of it can be told at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """``file`` is relative to the repository; ``where`` is the place in it, "" for the whole file;
    ``mend`` is the command, or the edit, that mends it."""

    file: str
    where: str
    expected: str
    found: str
    mend: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.where}" if self.where else self.file
        return f"{place}: expected {self.expected}, found {self.found}. {self.mend}"


def update(*words: str) -> str:
    """Return the mend that brings a lock up to date: ``update("go", "etcd")``."""
    return f"Run: ./tare pins update {' '.join(words)}"
