"""What is exported is what was measured, in a form that the other tool itself reads."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_benchmark.stats import Stats

from tare.errors import UsageError
from tare.results import RunStore, StoredRun
from tare.results.export import _stats, export, save
from tare.trials.levels import describe
from tare.trials.trial import Trial


@pytest.fixture
def run(store: RunStore, trials: tuple[Trial, ...]) -> StoredRun:
    """A complete run; the second trial has an attempt that was set aside, and is undefined in one metric."""
    store.commit(dataclasses.replace(trials[1], set_aside=True, disturbances=('it\'s, "quoted"',)))
    for trial in trials:
        store.commit(dataclasses.replace(trial, attempt=1) if trial.index == 1 else trial)
    store.close(state="complete")
    return StoredRun(store.folder)


def test_csv(run: StoredRun, trials: tuple[Trial, ...]) -> None:
    rows = list(csv.DictReader(io.StringIO(export(run, "csv").decode())))
    assert [int(row["trial"]) for row in rows] == [trial.index for trial in trials]
    for row, trial in zip(rows, trials, strict=True):
        assert {name: float(row[name]) for name in trial.metrics} == dict(trial.metrics)
        assert (row["runtime"], float(row["send_rate"])) == (trial.levels["runtime"], trial.levels["send_rate"])
        assert json.loads(row["failures_by_reason"]) == dict(trial.failures)
        assert json.loads(row["client_bound"]) == trial.client_bound
        assert row["cpu_ca"] == ""  # not measured
    everything = list(csv.DictReader(io.StringIO(export(run, "csv", include_set_aside=True).decode())))
    assert len(everything) == len(trials) + 1
    assert [json.loads(row["disturbances"]) for row in everything[1:3]] == [['it\'s, "quoted"'], []]


@pytest.mark.parametrize(
    ("table", "of_each"), [("trials", 1), ("samples", 2), ("host", 1), ("transactions", 20), ("histograms", 1)]
)
def test_parquet_and_the_other_tables(
    run: StoredRun, trials: tuple[Trial, ...], tmp_path: Path, table: str, of_each: int
) -> None:
    import duckdb

    save(tmp_path / "it's.parquet", export(run, "parquet", table=table))
    found = duckdb.read_parquet(str(tmp_path / "it's.parquet")).fetchall()
    with run.database() as connection:
        expected = connection.execute(f"SELECT * FROM {table} WHERE NOT (trial = 1 AND attempt = 0)").fetchall()
    assert len(found) == len(trials) * of_each
    assert found == expected
    assert len(export(run, "csv", table=table).splitlines()) == len(found) + 1
    assert len(json.loads(export(run, "json", table=table))[table]) == len(found)


def test_json(run: StoredRun, trials: tuple[Trial, ...]) -> None:
    found = json.loads(export(run, "json"))
    assert found["record"] == run.record
    assert [row["goodput"] for row in found["trials"]] == [trial.metrics["goodput"] for trial in trials]
    assert found["trials"][0]["failures_by_reason"] == {"MVCC_READ_CONFLICT": 1}


def test_json_has_no_infinity(store: RunStore, trials: tuple[Trial, ...]) -> None:
    store.commit(dataclasses.replace(trials[0], metrics={"goodput": math.inf}))
    found = json.loads(export(StoredRun(store.folder), "json"), parse_constant=pytest.fail)
    assert found["trials"][0]["goodput"] is None


def test_pytest_benchmark_itself_compares_two_runs(
    make: Callable[..., RunStore], trials: tuple[Trial, ...], tmp_path: Path
) -> None:
    paths = []
    for number, factor in enumerate((1.0, 1.5), start=1):
        store = make()
        for trial in trials:
            faster = {**trial.metrics, "latency_p99": trial.metrics["latency_p99"] * factor, "failures": 0.0}
            store.commit(dataclasses.replace(trial, metrics=faster))
        store.close(state="complete")
        paths.append(tmp_path / f"000{number}_run.json")
        save(paths[-1], export(StoredRun(store.folder), "pytest-benchmark"))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest_benchmark", "compare", *map(str, paths)),
            *("--group-by=fullname", "--columns=min,median,mean,stddev,rounds,iqr,outliers,ops", "--sort=name"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Failed to load" not in done.stdout + done.stderr
    cell = describe(next(trial.levels for trial in trials if not trial.aa))
    rounds = sum(not trial.aa and describe(trial.levels) == cell for trial in trials)
    _, _, after = done.stdout.partition(f"benchmark 'kata-hlf::latency_p99[{cell}]': 2 tests")
    table = after.partition("Legend")[0].splitlines()[:6]
    slower = [line for line in table if "(1.50)" in line]
    assert len(slower) == 1 and "0002_run" in slower[0] and f" {rounds} " in slower[0]
    assert f"benchmark 'kata-hlf::failures[{cell}]': 2 tests" in done.stdout  # all of them zero


def test_pytest_benchmark_says_what_was_measured_on_what(run: StoredRun, trials: tuple[Trial, ...]) -> None:
    found = json.loads(export(run, "pytest-benchmark"))
    assert found["machine_info"]["cpu"] == {"brand_raw": "A CPU", "count": 2}
    (one,) = [
        benchmark
        for benchmark in found["benchmarks"]
        if benchmark["group"] == "goodput" and benchmark["param"] == describe(trials[0].levels)
    ]
    values = [t.metrics["goodput"] for t in trials if not t.aa and describe(t.levels) == one["param"]]
    assert one["stats"]["data"] == values
    assert one["stats"]["mean"] == pytest.approx(statistics.fmean(values))
    assert one["extra_info"] == {"unit": run.record["units"]["goodput"], "run": run.name, "lab": "kata-hlf"}
    assert one["params"] == dict(trials[0].levels)


@given(st.lists(st.floats(min_value=1e-6, max_value=1e6), min_size=1, max_size=30))
def test_the_figures_are_those_pytest_benchmark_makes(values: list[float]) -> None:
    theirs = Stats()
    for value in values:
        theirs.update(value)
    ours = _stats(values)
    for field in ("min", "max", "mean", "stddev", "rounds", "median", "iqr", "q1", "q3", "ops", "total"):
        assert ours[field] == pytest.approx(getattr(theirs, field), rel=1e-6, abs=1e-6), field


def test_nothing_to_export(store: RunStore) -> None:
    with pytest.raises(UsageError, match="has no trial that was kept, so there is nothing to export"):
        export(StoredRun(store.folder), "pytest-benchmark")
    assert export(StoredRun(store.folder), "csv").decode().startswith("trial,attempt,block")


def test_mistakes_are_told(run: StoredRun, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="format 'xml': expected one of csv, json, parquet, pytest-benchmark"):
        export(run, "xml")
    with pytest.raises(UsageError, match="table 'x': expected one of trials, samples"):
        export(run, "csv", table="x")
    with pytest.raises(UsageError, match=r"nowhere/x\.csv: cannot be written: No such file or directory"):
        save(tmp_path / "nowhere" / "x.csv", b"")
