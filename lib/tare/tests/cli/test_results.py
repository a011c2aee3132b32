"""``tare results`` on runs that the store itself wrote."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import tare as package
from tare.cli import tare
from tare.manifest import Manifest
from tare.results import RunStore
from tare.trials.plan import Plan
from tare.trials.trial import Trial

FACTORS = {"runtime": False, "vcpus": False, "total_cpus": True, "send_rate": True}
NOW = 1706745600.0
FIRST, SECOND = "2024-02-01T00-00-00Z", "2024-02-01T00-00-00Z-2"

Write = Callable[..., Path]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def write(results: Path, plan: Plan, kata_hlf: Manifest, trials: tuple[Trial, ...]) -> Write:
    """Writes a run with every trial; ``state`` is how it ended, None for killed."""
    metrics = kata_hlf.experiment.metrics

    def write(
        *, state: str | None = "complete", slower: float = 1.0, kernel: str = "6.1", lab: str = "kata-hlf"
    ) -> Path:
        record: dict[str, Any] = {
            "experiment": "",
            "seed": 7,
            "metrics": list(metrics),
            "units": {name: metric.unit for name, metric in metrics.items()},
            "identity": {"manifest": "abc", "plan": plan.as_record()},
            "machine": {"cpus": [0, 1], "cpu_model": "A CPU", "kernel": kernel},
        }
        store = RunStore.create(results, lab, record=record, factors=FACTORS, now=NOW)
        store.plan(tuple(plan.trials()))
        why = ("steal took 9 % of the CPUs; at most 5 % is undisturbed",)
        store.commit(dataclasses.replace(trials[0], set_aside=True, disturbances=why))
        for trial in trials:
            factor = slower if trial.levels["runtime"] == "gvisor" else 1.0
            goodput = trial.metrics["goodput"] * factor
            store.commit(
                dataclasses.replace(trial, attempt=int(trial.index == 0), metrics={**trial.metrics, "goodput": goodput})
            )
        if state is None:
            store._release()  # as a kill leaves it
        else:
            store.close(state=state, error=None if state == "complete" else "TareError: broke")
        return store.folder

    return write


@pytest.fixture
def invoke(results: Path) -> Callable[..., tuple[int, str, str]]:
    def invoke(command: str, *words: str) -> tuple[int, str, str]:
        found = CliRunner().invoke(tare, ["results", command, "--results", str(results), *words])
        return found.exit_code, found.stdout, found.stderr

    return invoke


Invoke = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("command", ["list", "show", "compare", "export", "tag"])
def test_each_command_has_examples(command: str) -> None:
    found = CliRunner().invoke(tare, ["results", command, "--help"])
    assert found.exit_code == 0 and "Examples:" in found.output and f"tare results {command}" in found.output


def test_no_runs(invoke: Invoke, results: Path) -> None:
    assert invoke("list") == (0, f"there are no runs in {results}; `tare run LAB` makes one\n", "")
    assert invoke("list", "mtls")[1].startswith(f"there are no runs of mtls in {results}")
    assert json.loads(invoke("list", "--json")[1]) == []
    code, _, err = invoke("show", "last")
    assert code == 2 and f"no run 'last' in {results}; there are none" in err


def test_list(invoke: Invoke, write: Write, plan: Plan, trials: tuple[Trial, ...]) -> None:
    write()
    write(state=None)
    invoke("tag", FIRST, "v1.2")
    code, out, _ = invoke("list")
    first, second = (line.split() for line in out.splitlines() if "2024" in line)
    planned = str(len(list(plan.trials())))
    assert code == 0
    assert first == ["kata-hlf", FIRST, "–", "complete", str(len(trials)), "of", planned, "1", "v1.2"]  # noqa: RUF001
    assert second[1:4] == [SECOND, "–", "interrupted"]  # noqa: RUF001
    found = json.loads(invoke("list", "kata-hlf", "--json")[1])
    assert [(run["state"], run["committed"], run["set_aside"], run["tags"]) for run in found] == [
        ("complete", len(trials), 1, ["v1.2"]),
        ("interrupted", len(trials), 1, []),
    ]


def test_list_names_what_is_torn_and_lists_the_others(invoke: Invoke, write: Write) -> None:
    torn = write() / "samples.parquet"
    write()
    torn.write_bytes(b"")
    code, out, _ = invoke("list")
    assert code == 0 and "torn" in out and "complete" in out
    entries = json.loads(invoke("list", "--json")[1])
    assert f"{torn}: torn: expected" in entries[0]["problem"] and "problem" not in entries[1]


def test_show(invoke: Invoke, write: Write) -> None:
    write(state="failed")
    code, out, err = invoke("show", "last")
    assert (code, err) == (0, "")
    assert out.startswith(f"kata-hlf {FIRST}: failed, ") and "it ended with TareError: broke" in out
    assert "A CPU, 2 CPUs, kernel 6.1; seed 7" in out
    assert "goodput" in out and "95 % interval" in out and "baseline" in out and "(A/A)" in out
    assert "trial 0, attempt 0: set aside: steal took 9 %" in out
    assert "note: stock signing in JavaScript" in out
    code, out, _ = invoke("show", "last", "--metric", "cpu_peer")
    assert code == 0 and "cpu_peer" in out and "goodput" not in out
    code, _, err = invoke("show", "last", "--metric", "speed")
    assert code == 2 and "metric 'speed' is not known; there are: " in err and "goodput" in err


def test_show_and_compare_runs_without_a_trial(invoke: Invoke, results: Path, plan: Plan) -> None:
    record = {"units": {"goodput": "tx/s"}, "metrics": ["goodput"], "identity": {"plan": plan.as_record()}}
    RunStore.create(results, "kata-hlf", record=record, factors=FACTORS, now=NOW).close(state="failed", error="no")
    code, out, _ = invoke("show", "last")
    assert code == 0 and "failed, 0 of 0 trials" in out and "it ended with no" in out
    assert invoke("compare", "last", "last")[:2] == (
        0,
        f"A is kata-hlf {FIRST}, B is kata-hlf {FIRST}\nneither run has a figure to compare\n",
    )


def test_cells_are_told_apart_by_what_differs(invoke: Invoke, write: Write) -> None:
    write()
    out = invoke("show", "last", "--metric", "goodput")[1]
    assert "everywhere: vcpus=shared\n" in out
    cells = [line.split("  ")[1].strip() for line in out.splitlines() if line.strip().startswith("runtime=")]
    assert not any("vcpus" in cell for cell in cells)
    assert cells.index("runtime=runc send_rate=50 total_cpus=0.5") < cells.index(
        "runtime=gvisor send_rate=50 total_cpus=0.5"
    )


def test_show_as_json(invoke: Invoke, write: Write, trials: tuple[Trial, ...]) -> None:
    folder = write()
    found = json.loads(invoke("show", str(folder), "--json")[1])
    assert (found["state"], found["lab"], found["folder"]) == ("complete", "kata-hlf", str(folder))
    assert len(found["trials"]) == len(trials) + 1
    assert {one["metric"] for one in found["comparisons"]} == set(found["record"]["metrics"])


def test_show_of_a_torn_run(invoke: Invoke, write: Write) -> None:
    path = write() / "samples.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    code, out, err = invoke("show", "last")
    assert (code, out) == (3, "")
    assert f"error: {path}: torn: its" in err and "Restore it from a copy of the run, or measure again" in err


def test_compare(invoke: Invoke, write: Write) -> None:
    write()
    write(slower=0.5)
    code, out, err = invoke("compare", FIRST, "last", "--metric", "goodput")
    assert (code, err) == (0, "")
    assert f"A is kata-hlf {FIRST}, B is kata-hlf {SECOND}" in out
    assert "cost in A" in out and "change" in out and "latency_p99" not in out
    rows = [line for line in out.splitlines() if "runtime=gvisor" in line]
    assert rows and all(" 0.500 " in row for row in rows)
    found = json.loads(invoke("compare", FIRST, SECOND, "--json")[1])
    changed = [one for one in found["changes"] if one["metric"] == "goodput" and one["cost_ratio"]]
    assert changed and all(one["cost_ratio"] == pytest.approx(0.5) for one in changed)
    assert found["hosts_differ"] == []


def test_runs_of_different_hosts_are_compared_only_when_asked(invoke: Invoke, write: Write) -> None:
    write()
    write(kernel="6.2")
    code, out, err = invoke("compare", FIRST, SECOND)
    assert (code, out) == (2, "")
    assert "were not measured on the same host:\n  kernel: 6.1 and 6.2\n" in err and "--anyway" in err
    code, out, _ = invoke("compare", FIRST, SECOND, "--anyway")
    assert code == 0
    assert out.index("kernel: 6.1 and 6.2") < out.index("A is kata-hlf")
    found = json.loads(invoke("compare", FIRST, SECOND, "--anyway", "--json")[1])
    assert found["hosts_differ"] == [{"fact": "kernel", "a": "6.1", "b": "6.2"}]


def test_export_to_stdout_and_to_a_file(
    invoke: Invoke, write: Write, trials: tuple[Trial, ...], tmp_path: Path
) -> None:
    write()
    code, out, _ = invoke("export", "last", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and [int(row["trial"]) for row in rows] == [trial.index for trial in trials]
    assert len(invoke("export", "last", "--format", "csv", "--set-aside")[1].splitlines()) == len(trials) + 2
    file = tmp_path / "x.json"
    assert invoke("export", "last", "--format", "pytest-benchmark", "--output", str(file)) == (0, "", "")
    assert {one["group"] for one in json.loads(file.read_text())["benchmarks"]} >= {"goodput", "latency_p99"}
    code, _, err = invoke("export", "last", "--format", "csv", "--output", str(tmp_path / "no" / "x"))
    assert code == 2 and "cannot be written: No such file or directory" in err


def test_a_reader_that_has_enough_is_no_fault(write: Write, results: Path) -> None:
    write()
    words = [sys.executable, "-m", "tare", "results", "export", "last", "--format", "json", "--results", str(results)]
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert child.stdout is not None and child.stderr is not None
    child.stdout.close()
    assert (child.stderr.read(), child.wait(timeout=60)) == (b"", 128 + 13)


def test_tag(invoke: Invoke, write: Write) -> None:
    write()
    write()
    assert invoke("tag", FIRST, "v1.2") == (0, f"kata-hlf {FIRST} is v1.2\n", "")
    code, _, err = invoke("tag", SECOND, "v1.2")
    assert code == 2 and f"tag 'v1.2' is that of {FIRST}; move it with --move" in err
    assert invoke("tag", SECOND, "v1.2", "--move")[0] == 0
    assert json.loads(invoke("show", "kata-hlf/v1.2", "--json")[1])["run"] == SECOND
