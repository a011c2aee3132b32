"""A duet as a test asks for it: figures of a pair, what cannot be compared, and the reason where it cannot be run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare.results import StoredRun

LAB = Path(__file__).parent.parent / "data" / "labs" / "kata-hlf"

EXPERIMENT = f"""
from tare import Factor, experiment, ranking

@experiment(
    lab={str(LAB)!r},
    factor=Factor("runtime", baseline="runc", levels=["runc", "gvisor", "other"]),
    across=[Factor("total_cpus", levels=[1.0]), Factor("send_rate", levels=[50])],
    blocks=(3, 20),
    seed=7,
    duet=True,
)
def fabric(trial):
    trial.load()
"""

RATIO = """
def test_throughput(fabric):
    assert fabric.goodput(runtime="gvisor") / fabric.goodput(runtime="runc") >= 0.5
"""

TOLD = "duet was asked for; run in turn: the sides share CPU 1"


@pytest.fixture
def together(lab: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A machine on which a duet can be run."""
    monkeypatch.setenv("DUET", "1")
    return lab


def run(lab: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    lab.makepyfile(test_fabric=EXPERIMENT + tests)
    return lab.runpytest_inprocess("-p", "tare.plugin", "-p", "no:cacheprovider", *arguments)


def only_run(lab: pytest.Pytester) -> StoredRun:
    (folder,) = [path.parent for path in lab.path.glob("results/kata-hlf/*/run.json")]
    return StoredRun(folder)


def test_a_level_is_judged_against_the_baseline_that_ran_beside_it(together: pytest.Pytester) -> None:
    result = run(together, RATIO, "--tare-report", "report.json")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*duet: each level runs at the same moment as a baseline, on two sides of the lab"])
    stored = only_run(together)
    trials = stored.trials()
    assert {(trial.pair, trial.side) for trial in trials} == {(pair, side) for pair in (1, 2, 3) for side in (0, 1)}
    assert stored.record["plan"]["duet"] is True
    # Three blocks at least, of three pairs: two levels and the A/A arm.
    assert len(trials) % 6 == 0
    comparisons = json.loads((together.path / "report.json").read_text())["comparisons"]
    assert {one["n"] for one in comparisons if one["metric"] == "goodput"} == {len(trials) // 6}


def test_figures_count_blocks_and_ratios_of_pairs_compare_with_each_other(together: pytest.Pytester) -> None:
    result = run(
        together,
        """
def test_all(fabric):
    base = fabric.goodput(runtime="runc")
    gvisor, other = (fabric.goodput(runtime=level) / base for level in ("gvisor", "other"))
    fabric.measure_least()
    for estimate in (base, gvisor, other / gvisor, fabric.noise("goodput")):
        found = estimate.find(alpha=0.05)
        assert (found.n, found.left_out) == (3, 0), estimate
""",
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "budget",
    [
        'fabric.goodput(runtime="gvisor") / fabric.goodput(runtime="other") >= 0.5',
        'fabric.goodput(runtime="gvisor") - fabric.goodput(runtime="other") >= "-50 tx/s"',
        'ranking([fabric.goodput(runtime=level) for level in ("runc", "other", "gvisor")])',
    ],
)
def test_what_did_not_run_at_the_same_moment_is_refused(together: pytest.Pytester, budget: str) -> None:
    result = run(together, f"def test_both(fabric):\n    assert {budget}\n")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*a duet did not run these two at the same moment; compare each with its baseline*"])


def test_where_the_sides_contend_the_trials_run_in_turn_and_every_place_says_why(lab: pytest.Pytester) -> None:
    result = run(lab, RATIO, "--tare-dry-run")
    result.stdout.fnmatch_lines([f"  {TOLD}"])
    result = run(lab, RATIO, *("--tare-report", "report.html", "--tare-report", "report.json"))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"  {TOLD}"])
    stored = only_run(lab)
    assert {(trial.pair, trial.side) for trial in stored.trials()} == {(0, 0)}
    assert stored.record["duet"] == TOLD
    assert TOLD in (lab.path / "report.html").read_text()
    assert json.loads((lab.path / "report.json").read_text())["run"]["duet"] == TOLD


def test_a_dry_run_of_a_duet_shows_pairs_and_sides(together: pytest.Pytester) -> None:
    result = run(together, RATIO, "--tare-dry-run")
    result.stdout.fnmatch_lines(
        [
            "  3 cells; 6 trials a block, 1 of them the baseline again (A/A); 6 deployments",
            "  duet: each level runs at the same moment as a baseline, on two sides of the lab",
            "*, pair ?, side ?",
        ]
    )
