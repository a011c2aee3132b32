"""The ledger of one run: its facts, its trials with their states, and its files. One SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from tare.results.files import File, ResultFileError
from tare.trials.levels import Levels
from tare.trials.plan import PlannedTrial
from tare.trials.trial import Trial

SCHEMA = 2
NAME = "ledger.sqlite"
TrialState = Literal["planned", "running", "committed", "set-aside"]

_TABLES = (
    "CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE trials (
        trial INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        block INTEGER NOT NULL,
        deployment INTEGER NOT NULL,
        aa INTEGER NOT NULL,
        levels TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('planned', 'running', 'committed', 'set-aside')),
        began_at REAL,
        seconds REAL,
        PRIMARY KEY (trial, attempt)
    )""",
    # Two attempts at a trial may both be kept, but only one of them counts.
    "CREATE UNIQUE INDEX counted ON trials (trial) WHERE state = 'committed'",
    """CREATE TABLE files (
        path TEXT PRIMARY KEY,
        "table" TEXT NOT NULL,
        trial INTEGER,
        attempt INTEGER,
        sha256 TEXT NOT NULL,
        bytes INTEGER NOT NULL
    )""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a trial, as the ledger has it."""

    trial: int
    attempt: int
    block: int
    deployment: int
    aa: bool
    levels: Levels
    state: TrialState


class RunLedger:
    """The ledger of a run, open until it is closed. Every method raises ResultFileError when it cannot be done."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        if not path.is_file():
            raise ResultFileError(
                path,
                "missing, and only it says which trials were kept whole. Restore it from a copy of the run, or "
                "measure again; the Parquet files beside it can be read by hand.",
            )
        with self._telling():
            mode = "ro" if read_only else "rw"
            self._database = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=5.0, isolation_level=None
            )
        try:
            self._open(read_only)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path: Path, facts: Mapping[str, Any]) -> RunLedger:
        """Make the ledger of a new run with its first facts, in one transaction."""
        # A ledger without its tables is what a kill leaves before this transaction; it is no run yet.
        with closing(sqlite3.connect(path, isolation_level=None)) as database, _telling(path):
            database.execute("PRAGMA synchronous = FULL")
            database.execute("BEGIN IMMEDIATE")
            for table in _TABLES:
                database.execute(table)
            database.execute(f"PRAGMA user_version = {SCHEMA}")
            database.executemany("INSERT INTO run VALUES (?, ?)", _rows(facts))
            database.execute("COMMIT")
        return cls(path)

    def _open(self, read_only: bool) -> None:
        found = self._select("PRAGMA user_version")[0][0]
        if found != SCHEMA:
            told = (
                "it was killed before it began; remove its folder."
                if found == 0 and not self._select("SELECT 1 FROM sqlite_master")
                else f"schema: expected {SCHEMA}, found {found}. Use the Tare that wrote it."
            )
            raise ResultFileError(self.path, told)
        problem = self._select("PRAGMA quick_check(1)")[0][0]
        if problem != "ok":
            raise ResultFileError(self.path, f"torn: {problem}. Restore it from a copy of the run, or measure again.")
        if not read_only:
            with self._telling():
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute("PRAGMA synchronous = FULL")

    def facts(self) -> dict[str, Any]:
        """Return the facts of the run by name."""
        return {name: json.loads(value) for name, value in self._select("SELECT name, value FROM run")}

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        """Keep facts in place of those of the same names."""
        with self._transaction() as database:
            database.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", _rows(facts))

    def attempts(self) -> tuple[Attempt, ...]:
        """Return every attempt, in order of trial and attempt; a trial that was only planned has attempt 0."""
        rows = self._select(
            "SELECT trial, attempt, block, deployment, aa, levels, state FROM trials ORDER BY trial, attempt"
        )
        return tuple(
            Attempt(
                trial=trial,
                attempt=attempt,
                block=block,
                deployment=deployment,
                aa=bool(aa),
                levels=json.loads(levels),
                state=state,
            )
            for trial, attempt, block, deployment, aa, levels, state in rows
        )

    def files(self) -> tuple[File, ...]:
        """Return the files of the run, in order of table, trial and attempt."""
        rows = self._select(
            'SELECT path, "table", trial, attempt, sha256, bytes FROM files ORDER BY "table", trial, attempt, path'
        )
        return tuple(
            File(path=path, table=table, trial=trial, attempt=attempt, sha256=sha256, bytes=size)
            for path, table, trial, attempt, sha256, size in rows
        )

    def plan(self, trials: Sequence[PlannedTrial]) -> None:
        """Enter trials that are not there yet."""
        with self._transaction() as database:
            database.executemany(
                "INSERT OR IGNORE INTO trials VALUES (?, 0, ?, ?, ?, ?, 'planned', NULL, NULL)",
                [(t.index, t.block, t.deployment, t.aa, _json(dict(t.levels))) for t in trials],
            )

    def begin(self, index: int, attempt: int) -> None:
        """Say that an attempt at a planned trial begins. Raises ValueError for a trial that is not planned."""
        if not self._select("SELECT 1 FROM trials WHERE trial = ?", index):
            raise ValueError(f"trial {index} is not planned")
        with self._transaction() as database:
            database.execute(
                "INSERT OR IGNORE INTO trials SELECT trial, ?, block, deployment, aa, levels, 'planned', NULL, NULL"
                " FROM trials WHERE trial = ? AND attempt = 0",
                (attempt, index),
            )
            database.execute(
                "UPDATE trials SET state = 'running' WHERE trial = ? AND attempt = ? AND state = 'planned'",
                (index, attempt),
            )

    def kept(self, trial: Trial) -> int | None:
        """Return the attempt that keeps this one from being kept: itself, or the one that counts already."""
        rows = self._select(
            "SELECT attempt FROM trials WHERE trial = ? AND (attempt = ? AND state IN ('committed', 'set-aside')"
            " OR state = 'committed' AND NOT ?)",
            *(trial.index, trial.attempt, trial.set_aside),
        )
        return rows[0][0] if rows else None

    def commit(self, trial: Trial, files: Iterable[File]) -> None:
        """Enter a finished attempt and its files, in one transaction."""
        state: TrialState = "set-aside" if trial.set_aside else "committed"
        with self._transaction() as database:
            database.execute(
                "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (trial, attempt) DO UPDATE"
                " SET state = excluded.state, began_at = excluded.began_at, seconds = excluded.seconds",
                (
                    *(trial.index, trial.attempt, trial.block, trial.deployment, trial.aa),
                    *(_json(dict(trial.levels)), state, trial.began_at, trial.seconds),
                ),
            )
            _enter(database, files)

    def forget(self, attempts: Iterable[tuple[int, int]]) -> None:
        """Take (trial, attempt) pairs back to where they were planned, and their files out of the ledger."""
        with self._transaction() as database:
            for pair in attempts:
                database.execute("DELETE FROM files WHERE trial = ? AND attempt = ?", pair)
                database.execute("DELETE FROM trials WHERE trial = ? AND attempt = ? AND attempt > 0", pair)
                database.execute("UPDATE trials SET state = 'planned' WHERE trial = ? AND attempt = ?", pair)

    def finish(self, facts: Mapping[str, Any], files: Iterable[File]) -> None:
        """Let files take the place of all others and keep facts, in one transaction."""
        with self._transaction() as database:
            database.execute("DELETE FROM files")
            _enter(database, files)
            database.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", _rows(facts))

    def close(self, *, settle: bool = False) -> None:
        """Close the file; safe to call more than once.

        ``settle`` leaves it as one file, which can be read on a medium that cannot be written too.
        """
        if settle:
            # While somebody reads, it stays three files, which say the same.
            with suppress(sqlite3.OperationalError):
                self._database.execute("PRAGMA journal_mode = DELETE")
        self._database.close()

    def __enter__(self) -> RunLedger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._telling():
            return self._database.execute(statement, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._telling():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def _telling(self) -> Any:
        return _telling(self.path)


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise  # a defect of ours, no fault of the file
    except sqlite3.OperationalError as error:
        raise ResultFileError(path, f"{error}. Is the disk full, or the folder not yours to write?") from error
    except sqlite3.DatabaseError as error:
        raise ResultFileError(path, f"torn: {error}. Restore it from a copy of the run, or measure again.") from error


def _enter(database: sqlite3.Connection, files: Iterable[File]) -> None:
    database.executemany(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)",
        [(file.path, file.table, file.trial, file.attempt, file.sha256, file.bytes) for file in files],
    )


def _rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, _json(value)) for name, value in facts.items()]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
