"""A run on disk, read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.results import tables
from tare.results.files import File, ResultFileError, fault, read_json
from tare.results.ledger import NAME, SCHEMA, Attempt, RunLedger
from tare.results.lock import held
from tare.results.merge import read_table
from tare.results.tags import tags_of
from tare.trials.trial import Trial

if TYPE_CHECKING:
    import duckdb
    import pyarrow

RECORD = "run.json"


class StoredRun:
    """A run on disk, as its ledger has it when this is made. Raises ResultFileError, which names the file, for what
    cannot be read.

    ``record`` is the run record. ``attempts`` are the trials with their states, ``files`` those of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / NAME).exists() and (folder / RECORD).exists():
            _refuse_other_schema(folder)
        self._load()
        if (folder / RECORD).exists():
            read_json(folder / RECORD, mend="Remove it: the ledger beside it holds the same.")

    def _load(self) -> None:
        with RunLedger(self.folder / NAME, read_only=True) as ledger:
            self.record: dict[str, Any] = ledger.facts()
            self.attempts: tuple[Attempt, ...] = ledger.attempts()
            self.files: tuple[File, ...] = ledger.files()
        if self.record["state"] == "running" and not held(self.folder):
            self.record["state"] = "interrupted"

    @property
    def name(self) -> str:
        return self.folder.absolute().name

    @property
    def state(self) -> str:
        """``running``, ``complete``, ``interrupted`` (or killed) or ``failed``."""
        return str(self.record["state"])

    @property
    def tags(self) -> tuple[str, ...]:
        """The names given to this run."""
        return tags_of(self.folder)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many attempts there are in each state."""
        return Counter(attempt.state for attempt in self.attempts)

    @property
    def factors(self) -> Mapping[str, bool]:
        """Whether the levels of each factor are numbers."""
        return {name: kind == "number" for name, kind in self.record["factors"].items()}

    def check(self, *, contents: bool = True) -> None:
        """Raise ResultFileError, which names every file that is torn or missing and the trial in it, if there is one.

        Without ``contents`` only their presence and size are looked at, which is quick.

        A run that another command completes meanwhile has its trials in other files: then those are looked at.
        """
        found = self._torn(contents)
        if found:
            before = self.files
            self._load()
            found = self._torn(contents) if self.files != before else found
        if found:
            listed = "".join(f"\n  {file.path}: {problem}; it held {file.holds}" for file, problem in found)
            mend = (
                "Restore it from a copy of the run, or measure again."
                if self.state == "complete"
                else "Restore it from a copy of the run, or resume the run: then that trial is measured again."
            )
            raise ResultFileError(self.folder / found[0][0].path, f"{found[0][1]}. {mend} What is torn:{listed}")

    def trials(self, *, include_set_aside: bool = False) -> tuple[Trial, ...]:
        """Return the trials that were kept, whole, in order of index and attempt. Raises ResultFileError."""
        self.check()
        found = read_trials(self.folder, self.files, self.factors)
        return tuple(trial for trial in found if include_set_aside or not trial.set_aside)

    def database(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB connection with the views ``trials``, ``samples``, ``host``, ``transactions`` and
        ``histograms``, each with the columns ``trial`` and ``attempt``.

        Attempts that were set aside are among them; ``trials.set_aside`` tells which. Raises ResultFileError.
        """
        import duckdb

        self.check()
        connection = duckdb.connect()
        for name in tables.TABLES:
            paths = [self.folder / file.path for file in self.files if file.table == name]
            if paths:
                listed = ", ".join(_quote(path) for path in paths)
                source = f"read_parquet([{listed}], union_by_name = true)"
            else:
                connection.register(f"empty_{name}", self._schema(name).empty_table())
                source = f"empty_{name}"
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {source}")
        return connection

    def _torn(self, contents: bool) -> list[tuple[File, str]]:
        problems = ((file, fault(self.folder, file, contents=contents)) for file in self.files)
        return [(file, problem) for file, problem in problems if problem]

    def _schema(self, name: str) -> pyarrow.Schema:
        return tables.schema(name, factors=self.factors, metrics=tuple(self.record.get("metrics", ())))

    @cached_property
    def title(self) -> str:
        """The lab, the experiment if it has a name, and the run."""
        return " ".join(filter(None, (self.record.get("lab"), self.record.get("experiment"), self.name)))


def read_trials(folder: Path, files: Sequence[File], factors: Mapping[str, bool]) -> tuple[Trial, ...]:
    """Return the trials in files, in order of index and attempt. Raises ResultFileError."""
    read = {name: [read_table(folder / file.path) for file in files if file.table == name] for name in tables.TABLES}
    return tables.trials(read, factors=factors)


def _refuse_other_schema(folder: Path) -> None:
    """Runs of the first schema have no ledger, and those are told apart from one whose ledger was removed."""
    found = read_json(folder / RECORD, mend="Restore it from a copy of the run.").get("schema")
    if found != SCHEMA:
        raise ResultFileError(
            folder / RECORD, f"schema: expected {SCHEMA}, found {found!r}. Use the Tare that wrote it."
        )


def _quote(path: Path) -> str:
    """Return the path as a string of SQL; a view takes no parameters."""
    return "'" + str(path).replace("'", "''") + "'"
