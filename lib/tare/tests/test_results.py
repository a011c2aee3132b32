from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare.errors import TareError, UsageError
from tare.manifest import Manifest
from tare.results import ResultFileError, RunStore, StoredRun
from tare.trials.plan import Plan
from tare.trials.trial import Trial

NOW = 1706745600.0  # 2024-02-01T00:00:00Z


@pytest.fixture
def store(tmp_path: Path, plan: Plan, kata_hlf: Manifest) -> RunStore:
    return RunStore.create(
        tmp_path,
        "kata-hlf",
        record={"plan": plan.as_record(), "metrics": list(kata_hlf.experiment.metrics), "seed": 7},
        factors={"runtime": False, "vcpus": False, "total_cpus": True, "send_rate": True},
        now=NOW,
    )


def bare(trials: tuple[Trial, ...]) -> list[tuple[object, ...]]:
    return [
        (t.index, t.block, t.deployment, dict(t.levels), t.metrics, t.succeeded, t.failed, t.client_bound, t.failures)
        for t in trials
    ]


def test_what_was_committed_can_be_read_while_the_run_lasts_and_after(
    store: RunStore, trials: tuple[Trial, ...]
) -> None:
    for trial in trials:
        store.commit(trial)
    during = StoredRun(store.folder)
    assert during.record["state"] == "running"
    assert bare(during.trials()) == bare(trials)
    store.close(state="complete", timings=[{"phase": ["measure"], "seconds": 1.0}])
    after = StoredRun(store.folder)
    assert bare(after.trials()) == bare(trials)
    assert after.trials()[0].notes == trials[0].notes
    assert (after.record["state"], after.record["phases"][0]["seconds"]) == ("complete", 1.0)
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "run.json",
        "samples.parquet",
        "transactions.parquet",
        "trials.parquet",
    ]


def test_the_files_answer_sql(store: RunStore, trials: tuple[Trial, ...]) -> None:
    for trial in trials:
        store.commit(trial)
    store.close(state="complete")
    with StoredRun(store.folder).database() as connection:
        assert connection.execute("SELECT count(*) FROM transactions").fetchone() == (len(trials) * 20,)
        assert connection.execute("SELECT max(cpu_seconds) FROM samples WHERE label = 'peer'").fetchone() == (0.4,)
        rows = connection.execute("SELECT runtime, count(*) FROM trials GROUP BY runtime ORDER BY runtime").fetchall()
    assert rows == [("gvisor", len(trials) // 2), ("runc", len(trials) // 2)]


def test_a_half_written_trial_does_not_count(store: RunStore, trials: tuple[Trial, ...]) -> None:
    """What a kill in the middle of a commit leaves."""
    store.commit(trials[0])
    partial = store.folder / "trials" / ".0001.partial"
    partial.mkdir()
    (partial / "trials.parquet").write_bytes(b"PAR1 torn")
    assert [trial.index for trial in StoredRun(store.folder).trials()] == [0]
    store.commit(trials[1])
    assert [trial.index for trial in StoredRun(store.folder).trials()] == [0, 1]


def test_a_kill_while_closing_loses_and_doubles_nothing(store: RunStore, trials: tuple[Trial, ...]) -> None:
    """Between the last file and the record, both forms are there; the record says which to read."""
    store.commit(trials[0])
    running = (store.folder / "run.json").read_bytes()
    parts = {path: path.read_bytes() for path in (store.folder / "trials").rglob("*.parquet")}
    store.close(state="complete")
    for path, content in parts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert len(StoredRun(store.folder).trials()) == 1
    (store.folder / "run.json").write_bytes(running)
    assert len(StoredRun(store.folder).trials()) == 1


def test_a_run_without_a_trial_can_be_closed_and_read(store: RunStore) -> None:
    assert StoredRun(store.folder).trials() == ()
    store.close(state="failed", error="TareError: no")
    assert StoredRun(store.folder).trials() == ()
    assert StoredRun(store.folder).record["error"] == "TareError: no"


@pytest.mark.parametrize("name", ["trials.parquet", "samples.parquet", "transactions.parquet"])
def test_a_torn_file_is_named(store: RunStore, trials: tuple[Trial, ...], name: str) -> None:
    store.commit(trials[0])
    store.close(state="complete")
    path = store.folder / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ResultFileError) as caught:
        StoredRun(store.folder).trials()
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: torn or not Parquet")


def test_a_missing_file_is_named(store: RunStore, trials: tuple[Trial, ...]) -> None:
    store.commit(trials[0])
    store.close(state="complete")
    (store.folder / "samples.parquet").unlink()
    with pytest.raises(ResultFileError) as caught:
        StoredRun(store.folder).trials()
    assert caught.value.path == store.folder / "samples.parquet"


def test_a_torn_record_is_named(store: RunStore) -> None:
    path = store.folder / "run.json"
    path.write_text(path.read_text()[:-10])
    with pytest.raises(ResultFileError, match=r"run\.json: torn or not JSON"):
        StoredRun(store.folder)


def test_another_schema_is_refused(store: RunStore) -> None:
    path = store.folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 2}))
    with pytest.raises(ResultFileError, match="schema: expected 1, found 2"):
        StoredRun(store.folder)


def test_two_runs_in_one_second_have_two_folders(tmp_path: Path) -> None:
    record = {"plan": {"factors": {}}, "metrics": []}
    names = [RunStore.create(tmp_path, "lab", record=record, factors={}, now=NOW).folder.name for _ in range(2)]
    assert names == ["2024-02-01T00-00-00Z", "2024-02-01T00-00-00Z-2"]


def test_a_name_for_two_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'failed' names a factor or a metric and another column"):
        RunStore.create(tmp_path, "lab", record={"metrics": ["failed"]}, factors={}, now=NOW)


def test_results_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(TareError, match=r"results cannot be written to .*: .* Name another folder with --results"):
        RunStore.create(tmp_path / "results", "lab", record={"metrics": []}, factors={}, now=NOW)
