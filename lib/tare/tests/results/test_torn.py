"""What a disk, a person or another program may do to a run's files: each is named, with what to do."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tare.errors import TareError
from tare.results import ResultFileError, RunStore, StoredRun, find_unfinished
from tare.trials.trial import Trial

TABLES = ("trials", "samples", "host", "transactions", "histograms")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def replace(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


DAMAGES = {
    "torn: expected": cut,
    "torn: its": flip,
    "torn: its bytes are others": replace,
    "missing": Path.unlink,
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_torn_file_of_a_complete_run_is_named(
    store: RunStore, trials: tuple[Trial, ...], table: str, damage: str
) -> None:
    store.commit(trials[0])
    store.close(state="complete")
    path = store.folder / f"{table}.parquet"
    DAMAGES[damage](path)
    run = StoredRun(store.folder)
    for read in (run.trials, run.database, run.check):
        with pytest.raises(ResultFileError) as caught:
            read()
        assert caught.value.path == path
        assert str(caught.value).startswith(f"{path}: {' '.join(damage.split()[:2])}")
        assert "Restore it from a copy of the run, or measure again." in str(caught.value)
        assert f"it held the {table} of all trials" in str(caught.value)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_torn_trial_of_a_run_that_broke_off_is_named_and_measured_again(
    store: RunStore, trials: tuple[Trial, ...], record: dict[str, Any], damage: str
) -> None:
    for trial in trials[:3]:
        store.commit(trial)
    store.close(state="interrupted")
    DAMAGES[damage](store.folder / "parts" / "0001-0.samples.parquet")
    with pytest.raises(ResultFileError, match=r"resume the run: then that trial is measured again") as caught:
        StoredRun(store.folder).trials()
    assert "it held the samples of trial 1, attempt 0" in str(caught.value)
    assert find_unfinished(store.folder.parents[1], "kata-hlf", experiment="") == store.folder
    again = RunStore.resume(store.folder, record=record)
    (told,) = again.lost
    assert "0001-0.samples.parquet" in told and told.endswith("it held the samples of trial 1, attempt 0")
    assert (again.finished(), again.attempts(1)) == (frozenset({0, 2}), 0)
    again.commit(trials[1])
    again.close(state="complete")
    assert [trial.index for trial in StoredRun(store.folder).trials()] == [0, 1, 2]


def test_a_part_that_is_torn_before_the_end_keeps_the_run_from_completing(
    store: RunStore, trials: tuple[Trial, ...], record: dict[str, Any]
) -> None:
    store.commit(trials[0])
    store.commit(trials[1])
    flip(store.folder / "parts" / "0001-0.trials.parquet")
    with pytest.raises(ResultFileError, match=r"it held the trials of trial 1, attempt 0\. Resume the run"):
        store.close(state="complete")
    assert StoredRun(store.folder).state == "interrupted"
    again = RunStore.resume(store.folder, record=record)
    assert again.finished() == frozenset({0})
    again.close(state="complete")


def test_files_beside_those_of_the_ledger_are_not_read(store: RunStore, trials: tuple[Trial, ...]) -> None:
    store.commit(trials[0])
    parts = store.folder / "parts"
    (parts / "0001-0.trials.parquet").write_bytes((parts / "0000-0.trials.parquet").read_bytes())
    (parts / ".0002-0.trials.parquet.partial").write_bytes(b"PAR1 torn")
    assert [trial.index for trial in StoredRun(store.folder).trials()] == [0]


def test_a_torn_record_is_named_and_can_be_removed(store: RunStore, trials: tuple[Trial, ...]) -> None:
    store.commit(trials[0])
    path = store.folder / "run.json"
    path.write_text(path.read_text()[:-10])
    with pytest.raises(ResultFileError, match=r"run\.json: torn or not JSON: .* Remove it: the ledger beside it holds"):
        StoredRun(store.folder)
    path.unlink()
    assert len(StoredRun(store.folder).trials()) == 1


def test_a_torn_record_does_not_keep_a_run_from_going_on(
    store: RunStore, trials: tuple[Trial, ...], record: dict[str, Any]
) -> None:
    store.commit(trials[0])
    store.close(state="interrupted")
    (store.folder / "run.json").write_text("{")
    RunStore.resume(store.folder, record=record).close(state="complete")
    assert len(StoredRun(store.folder).trials()) == 1


def test_a_ledger_that_was_removed_is_told(store: RunStore, trials: tuple[Trial, ...], record: dict[str, Any]) -> None:
    store.commit(trials[0])
    store.close(state="complete")
    path = store.folder / "ledger.sqlite"
    path.unlink()
    for attempt in (lambda: StoredRun(store.folder), lambda: RunStore.resume(store.folder, record=record)):
        with pytest.raises(ResultFileError, match="missing, and only it says which trials were kept whole") as caught:
            attempt()
        assert caught.value.path == path
    with pytest.raises(ResultFileError):
        RunStore.resume(store.folder, record=record)  # and the lock was given back each time


@pytest.mark.parametrize("content", [b"not a database, not at all" * 400, None])
def test_a_ledger_that_is_torn_is_told(store: RunStore, trials: tuple[Trial, ...], content: bytes | None) -> None:
    for trial in trials:
        store.commit(trial)
    store.close(state="complete")
    path = store.folder / "ledger.sqlite"
    if content is None:
        whole = path.read_bytes()
        content = whole[: len(whole) // 2]
    path.write_bytes(content)
    with pytest.raises(ResultFileError, match="Restore it from a copy of the run, or measure again") as caught:
        StoredRun(store.folder)
    assert caught.value.path == path and "torn" in str(caught.value)


def test_another_schema_is_refused(tmp_path: Path) -> None:
    """A run of the first version, which had no ledger."""
    (tmp_path / "run.json").write_text(json.dumps({"schema": 1, "state": "complete"}))
    with pytest.raises(ResultFileError, match=r"run\.json: schema: expected 2, found 1\. Use the Tare that wrote it"):
        StoredRun(tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounts a small disk, which only root may")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["/usr/bin/env", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["/usr/bin/env", "umount", folder], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as error:
            assert error.errno == errno.ENOSPC


def numbers(run: StoredRun) -> list[int]:
    return [trial.index for trial in run.trials()]


def test_a_full_disk_keeps_what_was_committed(
    small_disk: Path, trials: tuple[Trial, ...], record: dict[str, Any]
) -> None:
    store = RunStore.create(
        small_disk, "kata-hlf", record=record, factors=dict.fromkeys(trials[0].levels, False), now=0
    )
    text = [_text(trial) for trial in trials]
    for trial in text[:3]:
        store.commit(trial)
    fill(small_disk / "filler")
    with pytest.raises(TareError) as caught:
        store.commit(text[3])
    told = str(caught.value)
    assert "No space left on device" in told or "Is the disk full" in told
    assert numbers(StoredRun(store.folder)) == [0, 1, 2]
    # Neither the end nor its record can be written; the trials are untouched.
    with pytest.raises(TareError):
        store.close(state="complete")
    assert numbers(StoredRun(store.folder)) == [0, 1, 2]
    (small_disk / "filler").unlink()
    again = RunStore.resume(store.folder, record=record)
    assert (again.lost, again.finished()) == ((), frozenset({0, 1, 2}))
    again.commit(text[3])
    again.close(state="complete")
    assert numbers(StoredRun(store.folder)) == [0, 1, 2, 3]


@pytest.mark.parametrize("state", ["complete", "interrupted"])
def test_a_run_that_was_closed_is_read_from_a_disk_that_cannot_be_written(
    small_disk: Path, trials: tuple[Trial, ...], record: dict[str, Any], state: str
) -> None:
    store = RunStore.create(
        small_disk, "kata-hlf", record=record, factors=dict.fromkeys(trials[0].levels, False), now=0
    )
    store.commit(_text(trials[0]))
    store.close(state=state)
    subprocess.run(["/usr/bin/env", "mount", "-o", "remount,ro", small_disk], check=True)
    assert numbers(StoredRun(store.folder)) == [0]
    with pytest.raises(TareError, match="Is the disk full, or the folder not yours to write"):
        RunStore.resume(store.folder, record=record)


def _text(trial: Trial) -> Trial:
    return dataclasses.replace(trial, levels={name: str(level) for name, level in trial.levels.items()})
