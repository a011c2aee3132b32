"""Pinned requirements: one ``name==version --hash=sha256:...`` a line, sorted by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PIN = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^\s;\\=]+)(?P<hashes>(?: --hash=sha256:[0-9a-f]{64})+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_INTENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Pin:
    """A distribution at a version; ``hashes`` are sha256 in hexadecimal, of the wheels that may be used."""

    name: str
    version: str
    hashes: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join([f"{self.name}=={self.version}", *(f"--hash=sha256:{value}" for value in self.hashes)])


def normalized(name: str) -> str:
    """Return a distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse(line: str) -> Pin | None:
    """Return the pin of a line of a requirements file; None when it is not one with its hash."""
    found = _PIN.fullmatch(line)
    if found is None:
        return None
    return Pin(name=found["name"], version=found["version"], hashes=tuple(_HASH.findall(found["hashes"])))


def render(pins: Iterable[Pin]) -> str:
    """Return the text of a requirements file."""
    return "".join(f"{pin}\n" for pin in sorted(pins))


def intent_lines(path: Path) -> Iterator[str]:
    """Yield the lines of an intent file without comments and empty ones."""
    for line in path.read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line:
            yield line


def included(path: Path) -> list[Path]:
    """Return the intent files that one includes with ``-r``, directly."""
    return [path.parent / line.split()[1] for line in intent_lines(path) if line.startswith("-r ")]


def intended(path: Path) -> set[str]:
    """Return the normalised names that an intent file asks for, included files with it."""
    names = {
        normalized(name[0])
        for line in intent_lines(path)
        if not line.startswith("-") and (name := _INTENT_NAME.match(line))
    }
    return names.union(*(intended(inner) for inner in included(path)))
