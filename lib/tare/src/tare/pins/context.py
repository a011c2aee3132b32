"""What each channel's update is given, and how what it found is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.pins import locks
from tare.pins.nix import Nix
from tare.pins.tree import Tree
from tare.process import Commands
from tare.progress import Progress

# A registry may be slow, and the first resolution reads the metadata of every candidate.
RESOLVE_DEADLINE_SECONDS = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """``environment`` is the caller's: clients read their mirrors and proxies from it."""

    tree: Tree
    nix: Nix
    commands: Commands
    environment: Mapping[str, str]
    progress: Progress


Texts = Mapping[Path, str]
"""New texts by file, in the order of writing: the lock comes last, so that it never is ahead of its intent."""


def with_entry(path: Path, table: str, name: str, entry: Mapping[str, str]) -> str:
    """Return a lock's text with one entry set; the other entries stay as they are."""
    lock = locks.read(path)
    return locks.render({**lock, table: {**lock[table], name: dict(entry)}})


def only_entries(path: Path, table: str, names: Iterable[str]) -> Texts:
    """Return a lock's text with only the entries ``names``: what nothing asks for any more goes."""
    lock, kept = locks.read(path), set(names)
    return {path: locks.render({**lock, table: {name: lock[table][name] for name in lock[table] if name in kept}})}


def publish(texts: Texts) -> list[Path]:
    """Write the files whose text is new, each atomically; return them."""
    changed = [path for path, text in texts.items() if not path.is_file() or path.read_text() != text]
    for path in changed:
        locks.write_atomically(path, texts[path])
    return changed
