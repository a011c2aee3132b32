"""What a lab has made on this machine, written down before it is made.

The ledger is one SQLite file in the lab's state directory. Teardown reads it newest first, so
that whoever died, and however, nothing is forgotten and nothing else is touched.
"""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tare.errors import TareError

SCHEMA = 1
_TABLES = (
    """CREATE TABLE IF NOT EXISTS resources (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        recorded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
        UNIQUE (kind, name)
    )""",
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


class LedgerError(TareError):
    """The ledger cannot be read or written; ``path`` is the file."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path = path
        super().__init__(f"{path}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something on the machine that a lab made, or was about to make. ``kind`` says how it is removed."""

    kind: str
    name: str


class Ledger:
    """The resources and facts of one lab; may be used from several threads.

    ``exclusive`` opens it for whoever tears down: then SQLite needs no shared-memory file, and
    reading works on a full disk too.
    """

    def __init__(self, path: Path, *, exclusive: bool = False) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            self._database = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise LedgerError(path, str(error)) from error
        try:
            self._prepare(exclusive)
        except BaseException:
            self.close()  # a lock it may hold would keep whoever tears down from reading
            raise

    def _prepare(self, exclusive: bool) -> None:
        if exclusive:
            self._run("PRAGMA locking_mode = EXCLUSIVE")
            return
        self._path.chmod(0o600)
        self._run("PRAGMA journal_mode = WAL")
        self._run("PRAGMA synchronous = NORMAL")
        for table in _TABLES:
            self._run(table)
        self._run(f"PRAGMA user_version = {SCHEMA}")

    def record(self, kind: str, name: str) -> None:
        """Write a resource down; call it before making the resource. Recorded already is fine."""
        self._run("INSERT OR IGNORE INTO resources (kind, name) VALUES (?, ?)", kind, name)

    def resources(self) -> tuple[Resource, ...]:
        """Return the resources, oldest first; none when the owner died before it wrote the first."""
        if not self._run("SELECT 1 FROM sqlite_master WHERE name = 'resources'"):
            return ()
        rows = self._run("SELECT kind, name FROM resources ORDER BY number")
        return tuple(Resource(kind=kind, name=name) for kind, name in rows)

    def set_fact(self, name: str, value: str) -> None:
        """Keep one fact about the lab, in place of the fact of that name."""
        self._run("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, value)

    def fact(self, name: str) -> str | None:
        """Return a fact, or None when it was never set."""
        if not self._run("SELECT 1 FROM sqlite_master WHERE name = 'facts'"):
            return None
        rows = self._run("SELECT value FROM facts WHERE name = ?", name)
        return str(rows[0][0]) if rows else None

    def close(self) -> None:
        """Close the file; safe to call more than once."""
        self._database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise LedgerError(self._path, f"{error}; is the disk full, or another version's file there?") from error
