"""kill -9 of a writer, at chosen places, at many lines, at random times: nothing kept is lost or doubled."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import runpy
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tare
from tare.results import ResultFileError, RunInUse, RunStore, StoredRun, find_unfinished, runs
from tare.trials.trial import Trial

SOURCE = str(Path(tare.__file__).parents[1])
PROGRAM = Path(__file__).with_name("killed_writer.py")
WRITER = runpy.run_path(str(PROGRAM))
LAB = WRITER["LAB"]
TABLES = ("trials", "samples", "host", "transactions", "histograms")


def start(*words: object) -> subprocess.Popen[str]:
    argv = [sys.executable, str(PROGRAM), *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.Popen(argv, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def run(*words: object) -> list[dict[str, Any]]:
    child = start(*words)
    out, _ = child.communicate(timeout=300)
    assert child.returncode == 0
    return [json.loads(line) for line in out.splitlines()]


def plain(trial: Trial) -> dict[str, Any]:
    """A histogram is equal to another when it counted the same."""
    found = {field.name: getattr(trial, field.name) for field in dataclasses.fields(trial)}
    return {**found, "histograms": {load: histogram.encode() for load, histogram in trial.histograms.items()}}


def acknowledged(results: Path) -> list[tuple[int, int]]:
    path = results / "acknowledged"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(index), int(attempt)) for index, attempt in map(str.split, lines)]


def stored(results: Path) -> list[StoredRun]:
    """The runs there are; one that was killed before its first transaction is told as such."""
    found = []
    for folder in runs(results, LAB):
        try:
            found.append(StoredRun(folder))
        except ResultFileError as error:
            assert "it was killed before it began; remove its folder" in str(error)
    return found


def whole(results: Path, count: int) -> None:
    """Hold what was left against what was acknowledged, go on with it, and hold the end against what is expected."""
    before = acknowledged(results)
    expected = {(trial.index, trial.attempt): trial for trial in WRITER["expected"](count)}
    left = stored(results)
    assert len(left) <= 1
    if left:
        merged = all(file.trial is None for file in left[0].files)
        assert left[0].state == ("complete" if left[0].files and merged else "interrupted")
        kept = left[0].trials(include_set_aside=True)
        keys = [(trial.index, trial.attempt) for trial in kept]
        assert len(keys) == len(set(keys)) and set(before) <= set(keys)
        assert [plain(trial) for trial in kept] == [plain(expected[key]) for key in keys]
    else:
        assert before == []
    if not left or left[0].state != "complete":
        WRITER["work"](results, count)
    after = acknowledged(results)
    assert max(Counter(after).values()) == 1, "a trial was measured again although it was kept"
    (end,) = stored(results)
    assert end.state == "complete"
    found = end.trials(include_set_aside=True)
    assert [plain(trial) for trial in found] == [plain(trial) for trial in expected.values()]


def tidy(results: Path) -> None:
    (end,) = stored(results)
    names = {path.name for path in end.folder.iterdir()}
    assert names == {"ledger.sqlite", "run.json", *(f"{name}.parquet" for name in TABLES)}


@pytest.mark.parametrize(
    ("where", "when", "nth"),
    [
        pytest.param("tare.results.ledger:RunLedger.create", "before", 1, id="before there is a ledger"),
        pytest.param("tare.results.ledger:RunLedger.create", "after", 1, id="before there is a record"),
        pytest.param("tare.results.files:Path.rename", "before", 4, id="before a part has its name"),
        pytest.param("tare.results.files:Path.rename", "before", 9, id="between two parts of a trial"),
        pytest.param("tare.results.ledger:RunLedger.commit", "before", 1, id="between rename and transaction"),
        pytest.param("tare.results.ledger:RunLedger.commit", "after", 2, id="after an attempt that was set aside"),
        pytest.param("tare.results.ledger:RunLedger.commit", "after", 4, id="after the last transaction"),
        pytest.param("tare.results.merge:read_table", "before", 3, id="in the middle of the merge"),
        pytest.param("tare.results.ledger:RunLedger.finish", "before", 1, id="between merge and transaction"),
        pytest.param("tare.results.ledger:RunLedger.finish", "after", 1, id="between the end and its record"),
        pytest.param("tare.results.store:RunStore._remove_leftovers", "before", 1, id="before the parts are removed"),
    ],
)
def test_killed_at(tmp_path: Path, where: str, when: str, nth: int) -> None:
    results = tmp_path / "results"
    (outcome,) = run("at", results, where, when, nth)
    assert outcome["killed"], "the place was never reached"
    whole(results, 3)


def test_killed_at_very_many_lines(tmp_path: Path) -> None:
    """Every 113th line from one drawn at random to the end of the run: each time others, never the same step only."""
    outcomes = run("lines", tmp_path, 1 + random.randrange(113), 113, 200)
    assert not outcomes[-1]["killed"], "the last writer should have come to its end"
    assert len(outcomes) > 20
    for outcome in outcomes:
        whole(tmp_path / str(outcome["line"]), 3)


def test_killed_at_random_times_and_taken_up_each_time(tmp_path: Path) -> None:
    kills = 0
    for _ in range(40):
        child = start("run", tmp_path)
        try:
            child.wait(timeout=random.uniform(0.5, 1.2))
        except subprocess.TimeoutExpired:
            child.kill()
            kills += 1
        child.communicate()
        for found in stored(tmp_path):
            found.check()
            keys = [(trial.index, trial.attempt) for trial in found.trials(include_set_aside=True)]
            assert len(keys) == len(set(keys)) and set(acknowledged(tmp_path)) <= set(keys)
        if any(found.state == "complete" for found in stored(tmp_path)):
            break
    assert kills > 0
    whole(tmp_path, 60)


def test_what_a_kill_leaves_over_is_removed_when_the_run_goes_on(tmp_path: Path) -> None:
    results = tmp_path / "results"
    run("at", results, "tare.results.ledger:RunLedger.finish", "before", 1)
    (left,) = stored(results)
    (left.folder / "notes.txt").write_text("a person's own")
    assert (left.folder / "trials.parquet").exists() and (left.folder / "parts").is_dir()
    whole(results, 3)
    (left.folder / "notes.txt").unlink()
    tidy(results)


def test_a_run_is_written_by_one_command_and_free_when_that_is_killed(tmp_path: Path) -> None:
    child = start("hold", tmp_path)
    assert child.stdout is not None
    folder = Path(child.stdout.readline().strip())
    try:
        assert StoredRun(folder).state == "running"
        assert [trial.index for trial in StoredRun(folder).trials()] == [0]
        assert find_unfinished(tmp_path, LAB, experiment="killed") is None
        with pytest.raises(RunInUse, match=f"is being written by process {child.pid}: wait") as caught:
            RunStore.resume(folder, record=WRITER["RECORD"])
        assert caught.value.pid == child.pid
    finally:
        child.kill()
        child.communicate()
    deadline = time.monotonic() + 5
    while StoredRun(folder).state == "running" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert StoredRun(folder).state == "interrupted"
    assert StoredRun(folder).counts == {"committed": 1, "running": 1}
    assert find_unfinished(tmp_path, LAB, experiment="killed") == folder
    assert find_unfinished(tmp_path, LAB, experiment="another") is None
    store = RunStore.resume(folder, record=WRITER["RECORD"])
    assert (store.finished(), store.attempts(1)) == (frozenset({0}), 0)
    store.close(state="interrupted")
