from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.errors import TareError, UsageError
from tare.results import DifferentRun, RunStore, StoredRun
from tare.trials.plan import Plan
from tare.trials.trial import Trial

Plain = Callable[[Trial], dict[str, Any]]
TABLES = ("trials", "samples", "host", "transactions", "histograms")


def test_what_was_committed_can_be_read_while_the_run_lasts_and_after(
    store: RunStore, trials: tuple[Trial, ...], plain: Plain
) -> None:
    for trial in trials:
        store.commit(trial)
    during = StoredRun(store.folder)
    assert during.state == "running"
    assert [plain(trial) for trial in during.trials()] == [plain(trial) for trial in trials]
    assert [plain(trial) for trial in store.trials()] == [plain(trial) for trial in trials]
    store.close(state="complete", timings=[{"phase": ["measure"], "seconds": 1.0}])
    after = StoredRun(store.folder)
    assert [plain(trial) for trial in after.trials()] == [plain(trial) for trial in trials]
    assert (after.state, after.record["phases"][0]["seconds"]) == ("complete", 1.0)
    assert json.loads((store.folder / "run.json").read_text()) == after.record
    assert sorted(path.name for path in store.folder.iterdir()) == sorted(
        ["ledger.sqlite", "run.json", *(f"{name}.parquet" for name in TABLES)]
    )


@pytest.mark.parametrize("state", ["running", "complete"])
def test_the_files_answer_sql(store: RunStore, trials: tuple[Trial, ...], state: str) -> None:
    for trial in trials:
        store.commit(trial)
    if state == "complete":
        store.close(state=state)
    with StoredRun(store.folder).database() as connection:
        assert connection.execute("SELECT count(*) FROM transactions WHERE load = 'caliper'").fetchone() == (
            len(trials) * 20,
        )
        assert connection.execute("SELECT max(cpu_seconds) FROM samples WHERE label = 'peer'").fetchone() == (0.4,)
        assert connection.execute("SELECT min(pressure_cpu_seconds) FROM host").fetchone() == (0.5,)
        assert connection.execute("SELECT count(encoded) FROM histograms").fetchone() == (len(trials),)
        rows = connection.execute(
            "SELECT runtime, count(*) FROM trials WHERE NOT aa GROUP BY runtime ORDER BY runtime"
        ).fetchall()
    cells = sum(not trial.aa for trial in trials)
    assert rows == [("gvisor", cells // 2), ("runc", cells // 2)]


def test_a_run_without_a_trial_can_be_closed_read_and_queried(store: RunStore) -> None:
    assert StoredRun(store.folder).trials() == ()
    store.close(state="failed", error="TareError: no")
    run = StoredRun(store.folder)
    assert (run.trials(), run.state, run.record["error"]) == ((), "failed", "TareError: no")
    with run.database() as connection:
        for name in TABLES:
            assert connection.execute(f"SELECT count(trial) FROM {name}").fetchone() == (0,)


def test_an_attempt_that_was_set_aside_is_kept_and_does_not_count(store: RunStore, trials: tuple[Trial, ...]) -> None:
    first = dataclasses.replace(trials[0], set_aside=True, disturbances=("steal took 9 % of the CPUs, of 5 % at most",))
    store.commit(first)
    assert (store.finished(), store.attempts(0), store.trials()) == (frozenset(), 1, ())
    store.commit(dataclasses.replace(trials[0], attempt=1))
    assert (store.finished(), store.attempts(0)) == (frozenset({0}), 2)
    for state in ("running", "complete"):
        if state == "complete":
            store.close(state=state)
        run = StoredRun(store.folder)
        assert [(trial.index, trial.attempt) for trial in run.trials()] == [(0, 1)]
        kept = run.trials(include_set_aside=True)
        assert [(trial.attempt, trial.set_aside) for trial in kept] == [(0, True), (1, False)]
        assert kept[0].disturbances == first.disturbances
        assert run.counts == {"set-aside": 1, "committed": 1}


@pytest.mark.parametrize("attempt", [0, 1])
def test_a_trial_counts_once(store: RunStore, trials: tuple[Trial, ...], attempt: int) -> None:
    store.commit(trials[0])
    with pytest.raises(ValueError, match=f"trial 0, attempt {attempt}: attempt 0 is kept already"):
        store.commit(dataclasses.replace(trials[0], attempt=attempt, seconds=99.0))
    assert StoredRun(store.folder).trials()[0].seconds == trials[0].seconds


def test_a_metric_beside_the_declared_ones_is_kept(store: RunStore, trials: tuple[Trial, ...]) -> None:
    store.commit(dataclasses.replace(trials[0], metrics={"goodput": 1.0}))
    store.commit(dataclasses.replace(trials[1], metrics={"goodput": 2.0, "of_my_own": 3.0}))
    for state in ("running", "complete"):
        if state == "complete":
            store.close(state=state)
        run = StoredRun(store.folder)
        assert [dict(trial.metrics) for trial in run.trials()] == [{"goodput": 1.0}, {"goodput": 2.0, "of_my_own": 3.0}]
        with run.database() as connection:
            rows = connection.execute("SELECT of_my_own FROM trials ORDER BY trial").fetchall()
        assert rows == [(None,), (3.0,)]


def test_the_plan_can_be_entered_again_and_says_how_far_the_run_is(
    store: RunStore, plan: Plan, trials: tuple[Trial, ...]
) -> None:
    store.plan(plan.block(0))
    store.plan(plan.block(0))
    store.commit(trials[0])
    store.begin(1, 0)
    run = StoredRun(store.folder)
    assert run.counts == {"committed": 1, "running": 1, "planned": len(plan.block(0)) - 2}
    assert [dict(attempt.levels) for attempt in run.attempts] == [dict(trial.levels) for trial in plan.block(0)]
    with pytest.raises(ValueError, match="trial 9999 is not planned"):
        store.begin(9999, 0)


def test_another_plan_is_refused(store: RunStore, plan: Plan) -> None:
    store.plan(plan.block(0))
    swapped = dataclasses.replace(plan.block(0)[0], levels={**plan.block(0)[0].levels, "send_rate": 3.0})
    with pytest.raises(DifferentRun, match=r"trial 0: .* then, .*send_rate=3 .* now"):
        store.plan([swapped])


def test_a_run_that_broke_off_goes_on(
    store: RunStore, plan: Plan, trials: tuple[Trial, ...], record: dict[str, Any], plain: Plain
) -> None:
    store.plan(plan.block(0))
    store.commit(trials[0])
    store.commit(dataclasses.replace(trials[1], set_aside=True))
    store.begin(1, 1)
    store.close(state="interrupted", timings=[{"phase": ["measure"], "seconds": 1.0}], error="KeyboardInterrupt: ")
    assert StoredRun(store.folder).state == "interrupted"
    again = RunStore.resume(store.folder, record={**record, "blocks": {"least": 1, "most": 40}})
    assert (again.lost, again.finished(), again.attempts(1)) == ((), frozenset({0}), 1)
    assert [plain(trial) for trial in again.trials()] == [plain(trials[0])]
    again.plan(plan.block(0))
    again.begin(1, 1)
    again.commit(dataclasses.replace(trials[1], attempt=1))
    again.close(state="complete", timings=[{"phase": ["measure"], "seconds": 2.0}])
    run = StoredRun(store.folder)
    assert [(t.index, t.attempt) for t in run.trials(include_set_aside=True)] == [(0, 0), (1, 0), (1, 1)]
    assert [phase["seconds"] for phase in run.record["phases"]] == [1.0, 2.0]
    assert (run.record["error"], run.record["blocks"]["most"], len(run.record["resumed_at"])) == (None, 40, 1)


def test_a_complete_run_can_go_on_too(store: RunStore, trials: tuple[Trial, ...], record: dict[str, Any]) -> None:
    store.commit(trials[0])
    store.close(state="complete")
    for number in (1, 2):
        again = RunStore.resume(store.folder, record=record)
        again.commit(trials[number])
        again.close(state="complete")
        assert [trial.index for trial in StoredRun(store.folder).trials()] == list(range(number + 1))
    assert len(list(store.folder.glob("trials*.parquet"))) == 1


def test_another_run_is_not_gone_on_with_and_what_differs_is_told(store: RunStore, record: dict[str, Any]) -> None:
    store.close(state="failed", error="x")
    identity = {**record["identity"], "manifest": "def", "plan": {**record["identity"]["plan"], "seed": 8}}
    other = {**record, "identity": identity, "machine": {**record["machine"], "kernel": "6.2"}}
    with pytest.raises(DifferentRun) as caught:
        RunStore.resume(store.folder, record=other)
    assert {one.fact for one in caught.value.differences} == {"manifest", "plan.seed", "kernel"}
    assert "\n  plan.seed: 7 then, 8 now\n" in str(caught.value)
    assert str(caught.value).endswith("Call it as it was called then, or begin a new run.")
    assert caught.value.exit_code == 2
    # Nothing was changed, and the run is free.
    assert StoredRun(store.folder).state == "failed"
    RunStore.resume(store.folder, record=record).close(state="interrupted")


def test_folders_for_the_generators_own_files(store: RunStore) -> None:
    first, second = store.directory(3, 0), store.directory(3, 1)
    assert first.is_dir() and second.is_dir() and first != second and first.is_absolute()
    assert store.folder.absolute() in first.parents


def test_two_runs_in_one_second_have_two_folders(make: Callable[..., RunStore]) -> None:
    assert [make().folder.name for _ in range(2)] == ["2024-02-01T00-00-00Z", "2024-02-01T00-00-00Z-2"]


def test_a_name_for_two_columns_is_refused(make: Callable[..., RunStore], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'attempt' names a factor or a metric and another column"):
        make(metrics=["attempt"])
    with pytest.raises(UsageError, match="'runtime' names a factor or a metric and another column"):
        make(metrics=["runtime"])
    assert list(tmp_path.iterdir()) == []


def test_results_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(TareError, match=r"results cannot be written to .*: .* Name another folder with --results"):
        RunStore.create(tmp_path / "results", "lab", record={"metrics": []}, factors={}, now=0.0)
