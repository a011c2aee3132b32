from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from rich.console import Console

from tare.manifest import Manifest
from tare.report.document import document
from tare.report.summary import Summary, summarise
from tare.report.table import render
from tare.trials.plan import Plan
from tare.trials.trial import Trial


@pytest.fixture
def summary(kata_hlf: Manifest, plan: Plan, trials: tuple[Trial, ...]) -> Summary:
    return summarise(kata_hlf, plan, trials)


def text(summary: Summary) -> str:
    console = Console(width=220, force_terminal=False)
    with console.capture() as captured:
        console.print(render(summary))
    return captured.get()


def test_every_level_has_a_row_with_ratio_interval_and_n(summary: Summary) -> None:
    shown = text(summary)
    goodput = shown[shown.index("goodput") : shown.index("latency_mean")]
    rows = [line for line in goodput.splitlines() if " gvisor " in line]
    assert len(rows) == 4
    assert all(" … " in row and " 2 " in row for row in rows)


def test_client_bound_cells_and_failures_are_marked(summary: Summary) -> None:
    shown = text(summary)
    rows = [line for line in shown[: shown.index("latency_mean")].splitlines() if " gvisor " in line]
    assert [("client-bound: runc, gvisor" in row) for row in rows] == ["100 tx/s" in row for row in rows]
    assert all("failed: runc 2.00 %, gvisor 2.00 %" in row for row in rows)
    assert "the load generator, not the service, set these figures" in shown


def test_what_was_not_run_is_listed_with_its_reason(summary: Summary) -> None:
    assert "runtime=kata (4 cells a block): kvm-guests: KVM runs no guest here" in text(summary)


def test_the_study_has_rows_of_its_own_where_nothing_matches(summary: Summary) -> None:
    shown = text(summary)
    study = [line for line in shown.splitlines() if "study only (not run)" in line]
    assert any("2 cpu" in line and "300 tx/s" in line and "0.620" in line for line in study)


def test_one_block_says_that_it_has_no_interval(kata_hlf: Manifest, plan: Plan, trials: tuple[Trial, ...]) -> None:
    first = [trial for trial in trials if trial.block == 0]
    assert "none (n < 2)" in text(summarise(kata_hlf, plan, first))


def test_a_cell_in_which_everything_failed_is_shown_without_a_ratio(
    kata_hlf: Manifest, plan: Plan, trials: tuple[Trial, ...]
) -> None:
    failed = [
        dataclasses.replace(trial, succeeded=0, failed=50, metrics={"goodput": 0.0, "failures": 1.0})
        if trial.levels["runtime"] == "gvisor"
        else trial
        for trial in trials
    ]
    shown = text(summarise(kata_hlf, plan, failed))
    assert "failed: runc 2.00 %, gvisor 100 %" in shown and "2 without a ratio (zero)" in shown


def test_no_trial_at_all_is_a_report_too(kata_hlf: Manifest, plan: Plan) -> None:
    assert "not run" in text(summarise(kata_hlf, plan, []))


def test_the_same_run_gives_the_same_report(summary: Summary) -> None:
    assert text(summary) == text(summary)


def test_the_document_is_json_and_complete(summary: Summary, plan: Plan) -> None:
    record: dict[str, Any] = {"run": "r", "plan": {}, "machine": {"cpus": [0, 1]}}
    found = json.loads(json.dumps(document(summary, record=record, folder="results/r"), allow_nan=False))
    assert len(found["cells"]) == 8
    assert len(found["comparisons"]) == 4 * len(summary.metrics)
    assert found["not_run"][0]["level"] == "kata"
    assert found["run"] == {"run": "r", "machine": {"cpus": [0, 1]}}
    assert {figure["not_run"] for figure in found["study"]["unmatched"]} == {"kvm-guests: KVM runs no guest here"}
