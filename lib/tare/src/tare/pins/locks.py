"""Lock files: JSON with a schema number, written in one canonical form, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare.errors import UsageError

SCHEMA = 1

FAKE_HASH = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
"""Stands where the hash of a fetch is not known yet; no fetch has it."""


def checksum(*parts: bytes) -> str:
    """Return the checksum of an intent as lib/pins/default.nix computes it: sha256 in hexadecimal."""
    return hashlib.sha256(b"".join(parts)).hexdigest()


def render(document: Mapping[str, Any]) -> str:
    """Return a lock's text: keys sorted, one space an indent, so that a change is a small diff."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


class LockUnreadable(UsageError):
    """A lock cannot be read; carries what was expected, what was found, and what to do."""

    def __init__(self, path: Path, expected: str, found: str, mend: str) -> None:
        self.path, self.expected, self.found, self.mend = path, expected, found, mend
        super().__init__(f"{path}: expected {expected}, found {found}. {mend}")


def read(path: Path) -> dict[str, Any]:
    """Return a lock. Raises LockUnreadable when it is not there, not JSON, or of another schema."""
    restore = "Take it from version control again."
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise LockUnreadable(path, "a lock", str(error.strerror), restore) from None
    except json.JSONDecodeError as error:
        raise LockUnreadable(path, "JSON", str(error), restore) from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != SCHEMA:
        raise LockUnreadable(path, f"schema {SCHEMA}", json.dumps(found), "Use the Tare that wrote it.")
    return dict(document)


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's text; a reader sees the old one or the new one, also after a crash."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
