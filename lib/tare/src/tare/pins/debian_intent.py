"""``debian.toml``: which Debian packages are asked for, by the root they are unpacked into."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class DebianIntent:
    """``roots``: root -> package names asked for; ``excluded``: dependencies left out unless asked for; ``non_free``:
    the packages that may come from the archive's component of that name."""

    roots: Mapping[str, tuple[str, ...]]
    excluded: frozenset[str]
    non_free: frozenset[str] = frozenset()


def read(path: Path) -> DebianIntent:
    """Read the intent. Raises UsageError, which names the key, what was expected and found."""
    try:
        document = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    roots = document.get("roots")
    excluded, non_free = (document.get(table, {}).get("packages", []) for table in ("exclude", "non-free"))
    if not isinstance(roots, dict) or not all(_names(names) for names in roots.values()):
        raise UsageError(f"{path}: roots: expected a table of lists of package names, found {roots!r}")
    for table, names in (("exclude", excluded), ("non-free", non_free)):
        if not _names(names):
            raise UsageError(f"{path}: {table}.packages: expected a list of package names, found {names!r}")
    return DebianIntent(
        roots={root: tuple(names) for root, names in sorted(roots.items())},
        excluded=frozenset(excluded),
        non_free=frozenset(non_free),
    )


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
