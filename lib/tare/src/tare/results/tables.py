"""The five tables of a run: which columns they have, and how a trial becomes rows and comes back."""

from __future__ import annotations

import dataclasses
import itertools
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tare.measure.host import HostSample
from tare.measure.sampler import Sample
from tare.stats.histogram import Histogram
from tare.trials.trial import Trial

if TYPE_CHECKING:
    import pyarrow

TABLES = ("trials", "samples", "host", "transactions", "histograms")

# Columns of the table of trials that are neither a factor nor a metric.
FIXED_COLUMNS = (
    *("trial", "attempt", "block", "deployment", "aa", "set_aside", "began_at", "seconds", "succeeded", "failed"),
    *("client_bound", "failures_by_reason", "disturbances", "steady_state", "notes"),
)

Key = tuple[int, int]


def clashes(factors: Mapping[str, bool], metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the names of factors and metrics that another column of the table of trials has too."""
    both = [name for name in factors if name in metrics]
    return (*both, *(name for name in (*factors, *metrics) if name in FIXED_COLUMNS))


def schema(table: str, *, factors: Mapping[str, bool], metrics: Sequence[str]) -> pyarrow.Schema:
    """Return a table's columns; ``factors`` says of each whether its levels are numbers."""
    import pyarrow as pa

    key = [("trial", pa.int32()), ("attempt", pa.int32())]
    if table == "samples":
        return pa.schema([*key, *_columns(Sample)])
    if table == "host":
        return pa.schema([*key, *_columns(HostSample)])
    if table == "transactions":
        return pa.schema([*key, ("load", pa.string()), ("latency_seconds", pa.float64())])
    if table == "histograms":
        return pa.schema([*key, ("load", pa.string()), ("encoded", pa.binary())])
    return pa.schema(
        [
            *key,
            ("block", pa.int32()),
            ("deployment", pa.int32()),
            ("aa", pa.bool_()),
            ("set_aside", pa.bool_()),
            ("began_at", pa.float64()),
            ("seconds", pa.float64()),
            *((factor, pa.float64() if number else pa.string()) for factor, number in factors.items()),
            *((metric, pa.float64()) for metric in metrics),
            ("succeeded", pa.int64()),
            ("failed", pa.int64()),
            ("client_bound", pa.bool_()),
            ("failures_by_reason", pa.map_(pa.string(), pa.int64())),
            ("disturbances", pa.list_(pa.string())),
            ("steady_state", pa.string()),
            ("notes", pa.list_(pa.string())),
        ]
    )


def of_trial(trial: Trial, *, factors: Mapping[str, bool], metrics: Sequence[str]) -> dict[str, pyarrow.Table]:
    """Return the tables in which the trial has rows. A metric beside ``metrics`` gets a column of its own."""
    import pyarrow as pa

    further = sorted(trial.metrics.keys() - set(metrics))
    columns = {name: schema(name, factors=factors, metrics=[*metrics, *further]) for name in TABLES}
    row = {
        "trial": trial.index,
        "attempt": trial.attempt,
        "block": trial.block,
        "deployment": trial.deployment,
        "aa": trial.aa,
        "set_aside": trial.set_aside,
        "began_at": trial.began_at,
        "seconds": trial.seconds,
        **trial.levels,
        **trial.metrics,
        "succeeded": trial.succeeded,
        "failed": trial.failed,
        "client_bound": trial.client_bound,
        "failures_by_reason": sorted(trial.failures.items()),
        "disturbances": list(trial.disturbances),
        "steady_state": trial.steady_state,
        "notes": list(trial.notes),
    }
    latencies = [(load, latency) for load, all_of in trial.latencies_seconds.items() for latency in all_of]
    values: dict[str, dict[str, Sequence[Any]]] = {
        "samples": _values(Sample, trial.samples),
        "host": _values(HostSample, trial.host),
        "transactions": {
            "load": [load for load, _ in latencies],
            "latency_seconds": [latency for _, latency in latencies],
        },
        "histograms": {
            "load": list(trial.histograms),
            "encoded": [histogram.encode() for histogram in trial.histograms.values()],
        },
    }
    tables = {"trials": pa.Table.from_pylist([row], schema=columns["trials"])}
    for name, of_table in values.items():
        length = len(next(iter(of_table.values())))
        if length:
            key = {"trial": [trial.index] * length, "attempt": [trial.attempt] * length}
            tables[name] = pa.table({**key, **of_table}, schema=columns[name])
    return tables


def trials(read: Mapping[str, Sequence[pyarrow.Table]], *, factors: Mapping[str, bool]) -> tuple[Trial, ...]:
    """Return the trials whose rows are in the tables, in order of index and attempt."""
    samples = {key: tuple(Sample(**row) for row in rows.to_pylist()) for key, rows in _by_attempt(read["samples"])}
    host = {key: tuple(HostSample(**row) for row in rows.to_pylist()) for key, rows in _by_attempt(read["host"])}
    histograms = {
        key: {row["load"]: Histogram.decode(row["encoded"]) for row in rows.to_pylist()}
        for key, rows in _by_attempt(read["histograms"])
    }
    latencies = {key: _by_load(rows) for key, rows in _by_attempt(read["transactions"])}
    found = []
    for table in read["trials"]:
        own = set(table.column_names) - {*FIXED_COLUMNS, *factors}
        for row in table.to_pylist():
            key = (row["trial"], row["attempt"])
            found.append(
                Trial(
                    index=row["trial"],
                    attempt=row["attempt"],
                    block=row["block"],
                    deployment=row["deployment"],
                    levels={name: row[name] for name in factors if row[name] is not None},
                    aa=row["aa"],
                    set_aside=row["set_aside"],
                    began_at=row["began_at"],
                    seconds=row["seconds"],
                    metrics={name: row[name] for name in table.column_names if name in own and row[name] is not None},
                    succeeded=row["succeeded"],
                    failed=row["failed"],
                    client_bound=row["client_bound"],
                    failures=dict(row["failures_by_reason"]),
                    disturbances=tuple(row["disturbances"]),
                    steady_state=row["steady_state"],
                    notes=tuple(row["notes"]),
                    histograms=histograms.get(key, {}),
                    latencies_seconds=latencies.get(key, {}),
                    samples=samples.get(key, ()),
                    host=host.get(key, ()),
                )
            )
    return tuple(sorted(found, key=lambda trial: (trial.index, trial.attempt)))


def _by_attempt(tables: Sequence[pyarrow.Table]) -> Iterator[tuple[Key, pyarrow.Table]]:
    """Yield the rows of each attempt, without their key; the rows of an attempt stand together in one table."""
    for table in tables:
        begin = 0
        keys = zip(table["trial"].to_pylist(), table["attempt"].to_pylist(), strict=True)
        for key, rows in itertools.groupby(keys):
            length = sum(1 for _ in rows)
            yield key, table.slice(begin, length).drop_columns(["trial", "attempt"])
            begin += length


def _by_load(rows: pyarrow.Table) -> dict[str, tuple[float, ...]]:
    found: dict[str, list[float]] = {}
    for load, latency in zip(rows["load"].to_pylist(), rows["latency_seconds"].to_pylist(), strict=True):
        found.setdefault(load, []).append(latency)
    return {load: tuple(latencies) for load, latencies in found.items()}


def _columns(of: type) -> list[tuple[str, pyarrow.DataType]]:
    """A column for each field of a dataclass of plain values."""
    import pyarrow as pa

    types: dict[Any, pyarrow.DataType] = {float: pa.float64(), int: pa.int64(), str: pa.string(), bool: pa.bool_()}
    types |= {kind | None: column for kind, column in types.items()}
    return [(name, types[kind]) for name, kind in typing.get_type_hints(of).items()]


def _values(of: Any, rows: Sequence[Any]) -> dict[str, Sequence[Any]]:
    return {field.name: [getattr(row, field.name) for row in rows] for field in dataclasses.fields(of)}
