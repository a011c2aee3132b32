"""Results on disk: ``results/<lab>/<run>/`` with a run record and three Parquet files.

While a run lasts, each trial is a folder of its own under ``trials/``, written under another name
and renamed once it is whole and on disk; that rename is its commit. When the run ends, in whatever
way, the folders become ``trials.parquet``, ``samples.parquet`` and ``transactions.parquet``, and the
record's ``state`` turns from ``running`` to how it ended. The state says which of the two to read,
so that a kill at any moment loses no committed trial and counts none twice.

Format history: 1: first.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import TareError, UsageError
from tare.trials.trial import Trial

if TYPE_CHECKING:
    import duckdb
    import pyarrow

SCHEMA = 1

TABLES = ("trials", "samples", "transactions")

# Columns of trials.parquet that are neither a factor nor a metric.
FIXED_COLUMNS = (
    "trial",
    "block",
    "deployment",
    "began_at",
    "seconds",
    "succeeded",
    "failed",
    "client_bound",
    "failures_by_reason",
    "notes",
)


class ResultFileError(TareError):
    """A file of a stored run is torn, missing or not of a schema that this version reads."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        super().__init__(f"{path}: {what}")


class RunStore:
    """A run being written. ``factors`` maps each factor to whether its levels are numbers."""

    def __init__(self, folder: Path, *, record: Mapping[str, Any], factors: Mapping[str, bool]) -> None:
        self.folder = folder
        self._record = dict(record)
        self._factors = dict(factors)
        self._metrics: tuple[str, ...] = tuple(self._record["metrics"])
        for name in (*self._factors, *self._metrics):
            if name in FIXED_COLUMNS or (name in self._factors and name in self._metrics):
                raise UsageError(f"{name!r} names a factor or a metric and another column of the results; rename it")
        self._write_record()

    @classmethod
    def create(
        cls, results: Path, lab: str, *, record: Mapping[str, Any], factors: Mapping[str, bool], now: float
    ) -> RunStore:
        """Make the folder of a new run, named by its beginning (``now``, Unix time in seconds), and write the record.

        Raises TareError when the folder cannot be made.
        """
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime(now))
        folder = results / lab / stamp
        attempt = 1
        try:
            (results / lab).mkdir(parents=True, exist_ok=True)
            while True:
                try:
                    folder.mkdir()
                    break
                except FileExistsError:
                    attempt += 1
                    folder = results / lab / f"{stamp}-{attempt}"
        except OSError as error:
            raise TareError(
                f"results cannot be written to {folder}: {error.strerror}. Name another folder with --results."
            ) from None
        whole = {"schema": SCHEMA, "run": folder.name, "lab": lab, "began_at": now, "state": "running", **record}
        return cls(folder, record=whole, factors=factors)

    def directory(self, index: int) -> Path:
        """Return a folder, as an absolute path, for the load generator's own files of trial ``index``."""
        folder = self.folder.absolute() / "generator" / f"{index:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def commit(self, trial: Trial) -> None:
        """Keep a trial whole, or not at all. Raises TareError when it cannot be written, as on a full disk."""
        parts = self.folder / "trials"
        whole, partial = parts / f"{trial.index:04d}", parts / f".{trial.index:04d}.partial"
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            for name, table in self._tables(trial).items():
                _write_parquet(table, partial / f"{name}.parquet")
            partial.rename(whole)
            _sync(parts)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise TareError(f"trial {trial.index} could not be kept in {parts}: {error.strerror}") from None

    def close(self, *, state: str, timings: Sequence[Mapping[str, Any]] = (), error: str | None = None) -> None:
        """Turn the trials' folders into the three files and record how the run ended.

        ``state`` is ``complete``, ``interrupted`` or ``failed``; ``error`` tells of the last.
        """
        import pyarrow

        parts = self.folder / "trials"
        folders = sorted(path for path in parts.glob("[0-9]*")) if parts.is_dir() else []
        for name in TABLES:
            tables = [_read_parquet(folder / f"{name}.parquet") for folder in folders]
            table = pyarrow.concat_tables(tables) if tables else self._empty(name)
            partial = self.folder / f".{name}.parquet.partial"
            _write_parquet(table, partial)
            partial.rename(self.folder / f"{name}.parquet")
        self._record |= {"state": state, "error": error, "ended_at": time.time(), "phases": list(timings)}
        self._write_record()
        shutil.rmtree(parts, ignore_errors=True)

    def _write_record(self) -> None:
        partial = self.folder / ".run.json.partial"
        with partial.open("w") as file:
            json.dump(self._record, file, indent=2, sort_keys=True, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        partial.rename(self.folder / "run.json")
        _sync(self.folder)

    def _tables(self, trial: Trial) -> dict[str, pyarrow.Table]:
        import pyarrow

        row: dict[str, Any] = {
            "trial": trial.index,
            "block": trial.block,
            "deployment": trial.deployment,
            "began_at": trial.began_at,
            "seconds": trial.seconds,
            **trial.levels,
            **{name: trial.metrics.get(name) for name in self._metrics},
            "succeeded": trial.succeeded,
            "failed": trial.failed,
            "client_bound": trial.client_bound,
            "failures_by_reason": sorted(trial.failures.items()),
            "notes": list(trial.notes),
        }
        samples = {
            "trial": [trial.index] * len(trial.samples),
            "time": [sample.time for sample in trial.samples],
            "label": [sample.label for sample in trial.samples],
            "cpu_seconds": [sample.cpu_seconds for sample in trial.samples],
            "memory_bytes": [sample.memory_bytes for sample in trial.samples],
            "throttled_seconds": [sample.throttled_seconds for sample in trial.samples],
        }
        transactions = {
            "trial": [trial.index] * len(trial.latencies_seconds),
            "latency_seconds": list(trial.latencies_seconds),
        }
        return {
            "trials": pyarrow.Table.from_pylist([row], schema=self._schema("trials")),
            "samples": pyarrow.table(samples, schema=self._schema("samples")),
            "transactions": pyarrow.table(transactions, schema=self._schema("transactions")),
        }

    def _empty(self, name: str) -> pyarrow.Table:
        return self._schema(name).empty_table()

    def _schema(self, name: str) -> pyarrow.Schema:
        import pyarrow as pa

        if name == "samples":
            return pa.schema(
                [
                    ("trial", pa.int32()),
                    ("time", pa.float64()),
                    ("label", pa.string()),
                    ("cpu_seconds", pa.float64()),
                    ("memory_bytes", pa.int64()),
                    ("throttled_seconds", pa.float64()),
                ]
            )
        if name == "transactions":
            return pa.schema([("trial", pa.int32()), ("latency_seconds", pa.float64())])
        return pa.schema(
            [
                ("trial", pa.int32()),
                ("block", pa.int32()),
                ("deployment", pa.int32()),
                ("began_at", pa.float64()),
                ("seconds", pa.float64()),
                *((factor, pa.float64() if number else pa.string()) for factor, number in self._factors.items()),
                *((metric, pa.float64()) for metric in self._metrics),
                ("succeeded", pa.int64()),
                ("failed", pa.int64()),
                ("client_bound", pa.bool_()),
                ("failures_by_reason", pa.map_(pa.string(), pa.int64())),
                ("notes", pa.list_(pa.string())),
            ]
        )


class StoredRun:
    """A run on disk, read with DuckDB. Raises ResultFileError, which names the file, for what cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / "run.json"
        try:
            self.record: dict[str, Any] = json.loads(path.read_text())
        except OSError as error:
            raise ResultFileError(path, f"cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise ResultFileError(path, f"torn or not JSON: {error}") from None
        found = self.record.get("schema") if isinstance(self.record, dict) else None
        if found != SCHEMA:
            raise ResultFileError(path, f"schema: expected {SCHEMA}, found {found!r}. Use the Tare that wrote it.")

    def database(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB connection with the views ``trials``, ``samples`` and ``transactions``."""
        import duckdb

        connection = duckdb.connect()
        for name in TABLES:
            files = self._files(name)
            for file in files:
                try:
                    connection.execute(f"SELECT count(*) FROM read_parquet({_quote(file)})")
                except duckdb.Error as error:
                    what = str(error).splitlines()[0]
                    raise ResultFileError(file, f"torn or not Parquet ({what}). Its figures are lost.") from None
            if files:
                listed = ", ".join(_quote(file) for file in files)
                connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet([{listed}])")
        return connection

    def trials(self) -> tuple[Trial, ...]:
        """Return the committed trials in order of index, without their samples and transactions."""
        factors = list(self.record["plan"]["factors"])
        metrics = list(self.record["metrics"])
        if not self._files("trials"):
            return ()
        with self.database() as connection:
            cursor = connection.execute("SELECT * FROM trials ORDER BY trial")
            names = [column[0] for column in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        return tuple(_trial(row, factors, metrics) for row in rows)

    def _files(self, name: str) -> list[Path]:
        if self.record["state"] == "running":
            return sorted((self.folder / "trials").glob(f"[0-9]*/{name}.parquet"))
        return [self.folder / f"{name}.parquet"]


def _quote(path: Path) -> str:
    """Return the path as a string of SQL; a view takes no parameters."""
    return "'" + str(path).replace("'", "''") + "'"


def _trial(row: Mapping[str, Any], factors: Iterable[str], metrics: Iterable[str]) -> Trial:
    return Trial(
        index=row["trial"],
        block=row["block"],
        deployment=row["deployment"],
        levels={name: row[name] for name in factors},
        began_at=row["began_at"],
        seconds=row["seconds"],
        metrics={name: row[name] for name in metrics if row[name] is not None},
        succeeded=row["succeeded"],
        failed=row["failed"],
        client_bound=row["client_bound"],
        failures=dict(row["failures_by_reason"]),
        notes=tuple(row["notes"]),
    )


def _write_parquet(table: pyarrow.Table, path: Path) -> None:
    from pyarrow import parquet

    with path.open("wb") as file:
        parquet.write_table(table, file, compression="zstd")
        file.flush()
        os.fsync(file.fileno())


def _read_parquet(path: Path) -> pyarrow.Table:
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.read_table(path)
    except FileNotFoundError:
        raise ResultFileError(path, "missing from a committed trial") from None
    except pyarrow.ArrowException as error:
        raise ResultFileError(path, f"torn or not Parquet ({str(error).splitlines()[0]})") from None


def _sync(folder: Path) -> None:
    """Make renames in the folder survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
