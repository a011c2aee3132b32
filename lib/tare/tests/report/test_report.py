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
def fixed(kata_hlf: Manifest, plan: Plan, trials: tuple[Trial, ...]) -> Summary:
    """Two blocks, as the lab asks for."""
    return summarise(kata_hlf, plan, trials)


def text(summary: Summary) -> str:
    console = Console(width=400, force_terminal=False)
    with console.capture() as captured:
        console.print(render(summary))
    return captured.get()


def rows(summary: Summary, what: str) -> list[str]:
    """The lines of the first table, that of goodput, with this in them."""
    shown = text(summary)
    goodput = shown[shown.index("goodput") : shown.index("latency_mean")]
    return [line for line in goodput.splitlines() if what in line]


def test_every_level_has_a_row_with_ratio_interval_and_n(fixed: Summary) -> None:
    found = rows(fixed, " gvisor ")
    assert len(found) == 4
    assert all(" … " in row and " 2 " in row for row in found)


def test_each_condition_has_a_row_for_the_baseline_against_itself(summary: Summary) -> None:
    found = rows(summary, " runc (A/A) ")
    assert len(found) == 4
    assert all(" … " in row and " 7 " in row and "% on would show" in row for row in found)


def test_the_heading_says_how_the_intervals_were_made(fixed: Summary, summary: Summary) -> None:
    assert "; 2 blocks, 15 s a trial" in text(fixed)
    assert "Student's t on the log-ratios; the number of blocks was fixed beforehand" in text(fixed)
    assert "; 7 blocks (of 5 to 40), 15 s a trial" in text(summary)
    assert "a t confidence sequence of the log-ratios, valid at every look, none before 6 blocks" in text(summary)


def test_a_robust_experiment_has_robust_intervals(
    kata_hlf: Manifest, open_plan: Plan, attempts: tuple[Trial, ...]
) -> None:
    found = summarise(kata_hlf, open_plan, attempts, method="median")
    assert found.kind == "median" and "95 % for the median ratio, valid at every look" in text(found)


def test_what_is_set_aside_is_counted_and_in_no_figure(summary: Summary) -> None:
    assert sum(cell.set_aside for cell in summary.cells) == 1
    (cell,) = (cell for cell in summary.cells if cell.set_aside)
    assert cell.trials == 7 and cell.metrics["goodput"] > 40
    assert "disturbed: 1 set aside and repeated" in text(summary)
    assert any("set aside:" in row for row in rows(summary, " … "))


def test_a_trial_that_every_attempt_was_disturbed_is_counted_and_marked(
    kata_hlf: Manifest, open_plan: Plan, attempts: tuple[Trial, ...]
) -> None:
    last = dataclasses.replace(attempts[-1], attempt=2, disturbances=("steal took 9 % of the CPUs",))
    found = summarise(kata_hlf, open_plan, (*attempts[:-1], last))
    assert sum(cell.disturbed for cell in found.cells) == 1
    assert "1 kept, since every attempt was disturbed" in text(found)
    assert any("disturbed:" in row and " 1 of 7" in row for row in rows(found, " … "))


def test_cells_without_a_steady_state_are_marked(summary: Summary) -> None:
    assert [row for row in rows(summary, " gvisor ") if "no steady state: gvisor 1 of 7" in row]


def test_blocks_that_drift_are_warned_of(kata_hlf: Manifest, open_plan: Plan, attempts: tuple[Trial, ...]) -> None:
    """gVisor loses two percent a block, ten blocks long."""
    one = [trial for trial in attempts if trial.block == 0 and not trial.set_aside]
    drifting = [
        dataclasses.replace(
            trial,
            block=block,
            index=trial.index + block * len(one),
            metrics={"goodput": 50 * (0.98**block if trial.levels["runtime"] == "gvisor" else 1)},
        )
        for block in range(10)
        for trial in one
    ]
    shown = text(summarise(kata_hlf, open_plan, drifting))
    assert "goodput, gvisor, 50 tx/s, 0.5 cpu: the values drift by -0.0202 a block over 10 blocks" in shown
    assert "runc (A/A), 50 tx/s, 0.5 cpu: the values drift" not in shown


def test_no_effect_is_said_to_show_before_there_are_blocks_enough(
    kata_hlf: Manifest, open_plan: Plan, attempts: tuple[Trial, ...]
) -> None:
    few = summarise(kata_hlf, open_plan, [trial for trial in attempts if trial.block < 5])
    assert {row.smallest_effect for of_metric in few.rows.values() for row in of_metric} == {None}
    assert "would show" not in text(few) and "none (n = 5)" in text(few)


def test_client_bound_cells_and_failures_are_marked(fixed: Summary) -> None:
    found = rows(fixed, " gvisor ")
    assert [("client-bound: runc, gvisor" in row) for row in found] == ["100 tx/s" in row for row in found]
    assert all("failed: runc 2.00 %, gvisor 2.00 %" in row for row in found)
    assert "the load generator, not the service, set these figures" in text(fixed)


def test_what_was_not_run_is_listed_with_its_reason(fixed: Summary) -> None:
    assert "runtime=kata (4 cells a block): kvm-guests: KVM runs no guest here" in text(fixed)


def test_the_study_has_rows_of_its_own_where_nothing_matches(fixed: Summary) -> None:
    study = [line for line in text(fixed).splitlines() if "study only (not run)" in line]
    assert any("2 cpu" in line and "300 tx/s" in line and "0.620" in line for line in study)


def test_one_block_says_that_it_has_no_interval(kata_hlf: Manifest, plan: Plan, trials: tuple[Trial, ...]) -> None:
    first = [trial for trial in trials if trial.block == 0]
    assert "none (n = 1)" in text(summarise(kata_hlf, plan, first))


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


def test_the_document_is_json_and_complete(summary: Summary) -> None:
    record: dict[str, Any] = {"run": "r", "plan": {}, "machine": {"cpus": [0, 1]}}
    made = document(summary, record=record, folder="results/r", judged=["held: all is well"])
    found = json.loads(json.dumps(made, allow_nan=False))
    assert found["schema"] == 2
    assert [(cell["aa"], cell["trials"]) for cell in found["cells"]] == [(False, 7)] * 8 + [(True, 7)] * 4
    assert len(found["comparisons"]) == 8 * len(summary.metrics)
    arms = [one for one in found["comparisons"] if one["aa"]]
    assert len(arms) == 4 * len(summary.metrics) and {one["level"] for one in arms} == {"runc"}
    assert all(0 < one["smallest_effect"] < 1 for one in arms if one["metric"] == "goodput")
    assert found["blocks"] == {"least": 5, "most": 40, "measured": 7} and found["intervals"] == "t"
    assert found["not_run"][0]["level"] == "kata"
    assert found["run"] == {"run": "r", "machine": {"cpus": [0, 1]}}
    assert found["verdicts"] == ["held: all is well"]
    assert {figure["not_run"] for figure in found["study"]["unmatched"]} == {"kvm-guests: KVM runs no guest here"}
