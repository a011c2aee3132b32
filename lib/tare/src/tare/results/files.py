"""Files that are there whole or not at all, and how a torn one is found."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tare.errors import TareError


class ResultFileError(TareError):
    """A file of a stored run is torn, missing or not of a schema that this version reads."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        super().__init__(f"{path}: {what}")


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A Parquet file of a run. ``path`` is relative to the run's folder; without a trial it holds those of all."""

    path: str
    table: str
    trial: int | None
    attempt: int | None
    sha256: str
    bytes: int

    @property
    def holds(self) -> str:
        """What is in it, as a person says it."""
        return f"the {self.table} of " + (
            "all trials" if self.trial is None else f"trial {self.trial}, attempt {self.attempt}"
        )


def write(path: Path, fill: Callable[[IO[bytes]], None]) -> None:
    """Write a file under another name, bring it to disk, and give it its own. Raises OSError.

    The new name is on disk once ``sync`` of its folder is.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except BaseException:
        partial.unlink(missing_ok=True)  # on a full disk it would stand in the way of what is written next
        raise


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file whole, and bring it to disk. Raises OSError."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write(path, lambda file: _fill(file, text))
    sync(path.parent)


def read_json(path: Path, *, mend: str) -> dict[str, Any]:
    """Return an object read from a JSON file. Raises ResultFileError, which ends in ``mend``: what to do."""
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise ResultFileError(path, f"cannot be read: {error.strerror}. {mend}") from None
    except ValueError as error:
        raise ResultFileError(path, f"torn or not JSON: {error}. {mend}") from None
    if not isinstance(found, dict):
        raise ResultFileError(path, f"expected a JSON object, found {type(found).__name__}. {mend}")
    return found


def _fill(file: IO[bytes], text: str) -> None:
    file.write(text.encode())


def sync(folder: Path) -> None:
    """Make renames in the folder survive a loss of power. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def digest(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fault(folder: Path, file: File, *, contents: bool = True) -> str | None:
    """Return what is wrong with a file that the ledger names, or None when it is whole.

    Without ``contents`` only its presence and size are looked at.
    """
    path = folder / file.path
    try:
        size = path.stat().st_size
        if size != file.bytes:
            return f"torn: expected {file.bytes} bytes, found {size}"
        if contents and digest(path) != file.sha256:
            return f"torn: its {size} bytes are not those that were written (their SHA-256 differs)"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None
