"""A run in the forms that other tools read."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tare.errors import UsageError
from tare.results import tables
from tare.results.files import write
from tare.results.merge import write_table
from tare.results.stored import StoredRun
from tare.trials.levels import Levels, describe
from tare.trials.trial import Trial

FORMATS = ("csv", "json", "parquet", "pytest-benchmark")


def export(run: StoredRun, form: str, *, table: str = "trials", include_set_aside: bool = False) -> bytes:
    """Return a run as a file of one of ``FORMATS``. Base units throughout.

    csv and parquet hold the rows of one ``table``, json the record too. A CSV cell that is no plain value is JSON;
    an empty one is null. pytest-benchmark holds each metric of each cell as a benchmark, a round for each trial.
    Attempts that were set aside are left out unless ``include_set_aside``. Raises UsageError, ResultFileError.
    """
    if form not in FORMATS:
        raise UsageError(f"format {form!r}: expected one of {', '.join(FORMATS)}")
    if table not in tables.TABLES:
        raise UsageError(f"table {table!r}: expected one of {', '.join(tables.TABLES)}")
    if form == "pytest-benchmark":
        return _json(pytest_benchmark(run.record, run.trials()))
    if form == "parquet":
        return _parquet(run, table, include_set_aside)
    names, rows = _rows(run, table, include_set_aside)
    if form == "csv":
        return _csv(names, rows)
    return _json({"record": run.record, table: [dict(zip(names, row, strict=True)) for row in rows]})


def save(path: Path, content: bytes) -> None:
    """Write a file whole. Raises UsageError when it cannot be written."""
    try:
        write(path, lambda file: _fill(file, content))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def pytest_benchmark(record: Mapping[str, Any], trials: Sequence[Trial]) -> dict[str, Any]:
    """Return trials as pytest-benchmark keeps them: a benchmark for each metric of each cell, a round for each trial.

    Its group is the metric. pytest-benchmark takes every value for seconds and less for better; the true unit is in
    ``extra_info``. Raises UsageError when there is no figure.
    """
    values: dict[tuple[str, str], tuple[Levels, list[float]]] = {}
    for trial in trials:
        for metric, value in trial.metrics.items():
            if not trial.aa and not trial.set_aside and math.isfinite(value):
                values.setdefault((metric, describe(trial.levels)), (trial.levels, []))[1].append(value)
    if not values:
        raise UsageError(f"the run {record['run']} has no trial that was kept, so there is nothing to export")
    began_at = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(record["began_at"]))
    machine = record.get("machine", {})
    source = record.get("source", {})
    return {
        "machine_info": {
            "cpu": {"brand_raw": machine.get("cpu_model"), "count": len(machine.get("cpus", ()))},
            "release": machine.get("kernel"),
            "system": "Linux",
            "memory_bytes": machine.get("memory_bytes"),
            "cgroup_version": machine.get("cgroup_version"),
            "node_cpus": record.get("node_cpus", {}),
        },
        "commit_info": {
            "id": source.get("revision") or "unversioned",
            "time": began_at,
            "dirty": not source.get("revision"),
            "project": record.get("lab"),
            "branch": "(unknown)",
        },
        "benchmarks": [
            _benchmark(record, metric, cell, levels, found) for (metric, cell), (levels, found) in values.items()
        ],
        "datetime": began_at,
        "version": "5.0.0",
    }


def _benchmark(
    record: Mapping[str, Any], metric: str, cell: str, levels: Levels, values: Sequence[float]
) -> dict[str, Any]:
    name = f"{metric}[{cell}]"
    return {
        "group": metric,
        "name": name,
        "fullname": "::".join(filter(None, (record.get("lab"), record.get("experiment"), name))),
        "params": dict(levels),
        "param": cell,
        "extra_info": {"unit": record.get("units", {}).get(metric), "run": record["run"], "lab": record.get("lab")},
        "options": {"disable_gc": False, "timer": "tare", "min_rounds": len(values), "warmup": True},
        "stats": _stats(values),
    }


def _stats(values: Sequence[float]) -> dict[str, Any]:
    """The figures pytest-benchmark makes of its rounds, by its own rules (Tukey's for outliers)."""
    ordered = sorted(values)
    mean = statistics.fmean(ordered)
    deviation = statistics.stdev(ordered) if len(ordered) > 1 else 0.0
    q1, q3 = _lower_quartile(ordered), _lower_quartile(ordered[::-1])
    low, high = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    beyond_deviation = sum(abs(value - mean) > deviation for value in ordered)
    beyond_quartiles = sum(not low <= value <= high for value in ordered)
    return {
        "min": ordered[0],
        "max": ordered[-1],
        "mean": mean,
        "stddev": deviation,
        "rounds": len(ordered),
        "median": statistics.median(ordered),
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": beyond_quartiles,
        "stddev_outliers": beyond_deviation,
        "outliers": f"{beyond_deviation};{beyond_quartiles}",
        "ld15iqr": min(value for value in ordered if value >= low),
        "hd15iqr": max(value for value in ordered if value <= high),
        "ops": 1 / mean if mean else 0.0,
        "total": math.fsum(ordered),
        "data": list(values),
        "iterations": 1,
    }


def _lower_quartile(ordered: Sequence[float]) -> float:
    """The median of the lower half; of an odd number, between its two medians with and without the middle value."""
    whole, rest = divmod(len(ordered), 4)
    if rest in (0, 2):
        return statistics.median(ordered[: len(ordered) // 2])
    if rest == 1:
        return 0.25 * ordered[whole - 1] + 0.75 * ordered[whole]
    return 0.75 * ordered[whole] + 0.25 * ordered[whole + 1]


def _rows(run: StoredRun, table: str, include_set_aside: bool) -> tuple[list[str], list[tuple[Any, ...]]]:
    with run.database() as connection:
        cursor = connection.execute(_query(run, table, include_set_aside))
        return [column[0] for column in cursor.description or ()], cursor.fetchall()


def _parquet(run: StoredRun, table: str, include_set_aside: bool) -> bytes:
    with run.database() as connection:
        found = connection.sql(_query(run, table, include_set_aside)).to_arrow_table()
    file = io.BytesIO()
    write_table(found, file)
    return file.getvalue()


def _query(run: StoredRun, table: str, include_set_aside: bool) -> str:
    aside = [(attempt.trial, attempt.attempt) for attempt in run.attempts if attempt.state == "set-aside"]
    if include_set_aside or not aside:
        return f"SELECT * FROM {table}"
    # A filter leaves the rows in the order in which they were kept; a join need not.
    return f"SELECT * FROM {table} WHERE (trial, attempt) NOT IN ({', '.join(map(str, aside))})"


def _csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False)
    return plain(value)


def _json(value: Any) -> bytes:
    return (json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def plain(value: Any) -> Any:
    """Return a value as JSON has it: no bytes and no infinity, which become base64 and null."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _fill(file: Any, content: bytes) -> None:
    file.write(content)
