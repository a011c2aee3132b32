"""A run being written: planned, trial by trial, and closed."""

from __future__ import annotations

import functools
import json
import os
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from tare.errors import TareError, UsageError
from tare.results import tables
from tare.results.files import File, ResultFileError, digest, fault, sync, write, write_json
from tare.results.ledger import NAME, SCHEMA, RunLedger
from tare.results.lock import RunInUse, acquire
from tare.results.match import Difference, DifferentRun, identity_differences
from tare.results.merge import merge, write_table
from tare.results.stored import read_trials
from tare.trials.levels import describe
from tare.trials.plan import IN_TURN, PlannedTrial
from tare.trials.trial import Trial

RECORD = "run.json"
PARTS = "parts"

# What a kill leaves of this module's own files; whatever else lies in the folder is not ours to remove.
_OWN_FILE = re.compile(rf"\.?([0-9]+-[0-9]+\.)?({'|'.join(tables.TABLES)})(-[0-9]+)?\.parquet(\.partial)?")


class RunStore:
    """A run being written, by nobody else; made by ``create`` or ``resume``.

    ``lost`` tells of the trials that were kept once and whose files are torn: they are planned anew.
    """

    def __init__(self, folder: Path, ledger: RunLedger, lock: int) -> None:
        self.folder = folder
        self.lost: tuple[str, ...] = ()
        self._ledger = ledger
        self._lock: int | None = lock
        self._record = ledger.facts()
        self._factors: dict[str, bool] = {name: kind == "number" for name, kind in self._record["factors"].items()}
        self._metrics: tuple[str, ...] = tuple(self._record.get("metrics", ()))
        self._trials: list[Trial] = []

    @classmethod
    def create(
        cls, results: Path, lab: str, *, record: Mapping[str, Any], factors: Mapping[str, bool], now: float
    ) -> RunStore:
        """Make the folder of a new run, named by its beginning (``now``, Unix time in seconds), and its ledger.

        ``record`` is the run record as JSON-able values; ``factors`` says of each factor whether its levels are
        numbers. Raises UsageError for a factor or metric with the name of another column, TareError when the
        folder cannot be made.
        """
        for name in tables.clashes(factors, tuple(record.get("metrics", ()))):
            raise UsageError(f"{name!r} names a factor or a metric and another column of the results; rename it")
        folder = _new_folder(results / lab, now)
        facts = {
            "schema": SCHEMA,
            "run": folder.name,
            "lab": lab,
            "experiment": "",
            "began_at": now,
            **record,
            "factors": {name: "number" if number else "text" for name, number in factors.items()},
            "state": "running",
            "pid": os.getpid(),
        }
        with ExitStack() as undo:
            lock = _lock(folder)
            undo.callback(os.close, lock)
            store = cls(folder, undo.enter_context(RunLedger.create(folder / NAME, facts)), lock)
            store._write_record()
            undo.pop_all()
        return store

    @classmethod
    def resume(cls, folder: Path, *, record: Mapping[str, Any]) -> RunStore:
        """Go on with a run that broke off. ``record`` is what ``create`` would be given now.

        Removes what a kill left over. Trials whose files are torn or missing are planned anew and told in
        ``lost``. Raises RunInUse, DifferentRun, ResultFileError when the ledger itself cannot be read.
        """
        with ExitStack() as undo:
            lock = _lock(folder)
            undo.callback(os.close, lock)
            ledger = undo.enter_context(RunLedger(folder / NAME))
            found = identity_differences(ledger.facts(), record)
            if found:
                raise DifferentRun(folder, found)
            store = cls(folder, ledger, lock)
            store._take_up(record)
            undo.pop_all()
        return store

    def plan(self, trials: Sequence[PlannedTrial]) -> None:
        """Enter trials that are to be measured; those that are entered already stay as they are, but for one whose
        partner in a duet was lost: they are measured at the same moment or not at all.

        Raises DifferentRun when one is entered with other levels: then the plan is not that of this run.
        """
        entered = {attempt.trial: attempt for attempt in self._ledger.attempts()}
        found = [
            Difference(fact=f"trial {trial.index}", a=describe(entered[trial.index].levels), b=describe(trial.levels))
            for trial in trials
            if trial.index in entered and describe(entered[trial.index].levels) != describe(trial.levels)
        ]
        if found:
            raise DifferentRun(self.folder, found)
        self._ledger.plan(trials)
        done = self.finished()
        for pair in {trial.pair for trial in trials} - {IN_TURN}:
            indices = {trial.index for trial in trials if trial.pair == pair}
            if not indices <= done:
                self._forget(indices & done)

    def attempts(self, index: int) -> int:
        """Return how many attempts at a trial there are: the number of the next one. Attempts count from 0."""
        kept = (a for a in self._ledger.attempts() if a.trial == index and a.state in ("committed", "set-aside"))
        return max((attempt.attempt + 1 for attempt in kept), default=0)

    def directory(self, index: int, attempt: int) -> Path:
        """Return a folder, as an absolute path, for the load generator's own files of an attempt at a trial."""
        folder = self.folder.absolute() / "generator" / f"{index:04d}-{attempt}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def begin(self, index: int, attempt: int) -> None:
        """Say that an attempt at a planned trial begins. Raises ValueError for a trial that is not planned."""
        self._ledger.begin(index, attempt)

    def commit(self, *trials: Trial) -> None:
        """Keep an attempt at a trial, or at the two of a pair, whole, or not at all.

        Raises TareError when it cannot be written, as on a full disk; ValueError when the attempt, or another
        one that is not set aside, is kept already.
        """
        for trial in trials:
            kept = self._ledger.kept(trial)
            if kept is not None:
                raise ValueError(f"trial {trial.index}, attempt {trial.attempt}: attempt {kept} is kept already")
        parts = self.folder / PARTS
        written: list[File] = []
        try:
            parts.mkdir(exist_ok=True)
            for trial in trials:
                for name, table in tables.of_trial(trial, factors=self._factors, metrics=self._metrics).items():
                    path = parts / f"{trial.index:04d}-{trial.attempt}.{name}.parquet"
                    fill = functools.partial(write_table, table)
                    written.append(self._write(path, fill, table=name, trial=trial.index, attempt=trial.attempt))
            sync(parts)
        except OSError as error:
            for file in written:
                (self.folder / file.path).unlink(missing_ok=True)
            raise TareError(
                f"trial {trial.index} could not be kept in {parts}: {error.strerror}. The trials before it are kept; "
                "mend that, and call the command again to go on."
            ) from None
        self._ledger.commit(trials, written)
        self._trials.extend(trials)

    def lacks(self, sources: Sequence[str]) -> None:
        """Record as ``absent`` what the machine does not tell, a phrase each; one that is there already is there once.

        Raises ResultFileError.
        """
        known = self._record.get("absent", [])
        found = list(dict.fromkeys([*known, *sources]))
        if found != known:
            self._ledger.set_facts({"absent": found})
            self._write_record()

    def finished(self) -> frozenset[int]:
        """Return the indices of the trials that are kept and count."""
        return frozenset(attempt.trial for attempt in self._ledger.attempts() if attempt.state == "committed")

    def trials(self) -> tuple[Trial, ...]:
        """Return the trials that are kept and count, in order of index."""
        return tuple(sorted((t for t in self._trials if not t.set_aside), key=lambda trial: trial.index))

    def discard(self) -> bool:
        """Remove a run of which no trial was ever planned, and let go of it; False, and nothing done, for any other.

        Files of others in its folder stay, and so does the folder then. Raises TareError.
        """
        if self._ledger.attempts():
            return False
        self._ledger.close()
        try:
            for name in (RECORD, NAME):
                (self.folder / name).unlink(missing_ok=True)
            if not any(self.folder.iterdir()):
                self.folder.rmdir()
        except OSError as problem:
            raise TareError(f"{self.folder}, which is empty, could not be removed: {problem.strerror}") from None
        finally:
            self._release()
        return True

    def close(self, *, state: str, timings: Sequence[Mapping[str, Any]] = (), error: str | None = None) -> None:
        """Record how the run ended, and let others write it.

        ``state`` is ``complete``, ``interrupted`` or ``failed``; ``error`` tells of the last. A run that is
        complete gets one file a table; any other keeps those of each trial, so that it can go on.
        ``timings`` are added to those of the commands before. Raises TareError when that cannot be written:
        then the trials are kept as they are.
        """
        phases = [*self._record.get("phases", ()), *timings]
        facts = {"state": state, "error": error, "ended_at": time.time(), "phases": phases}
        try:
            if state == "complete":
                self._ledger.finish(facts, self._merged())
            else:
                self._ledger.set_facts(facts)
            self._write_record()
            if state == "complete":
                self._remove_leftovers()
            self._ledger.close(settle=True)
        except OSError as problem:
            raise TareError(
                f"{self.folder} could not be closed: {problem.strerror}. Its trials are kept; mend that, and call "
                "the command again to go on."
            ) from None
        finally:
            self._release()

    def _take_up(self, record: Mapping[str, Any]) -> None:
        torn: dict[tuple[int, int], str] = {}
        for file in self._ledger.files():
            problem = fault(self.folder, file)
            if not problem:
                continue
            if file.trial is None or file.attempt is None:
                raise ResultFileError(
                    self.folder / file.path,
                    f"{problem}; it holds {file.holds}. Restore it from a copy of the run, or begin a new run.",
                )
            torn[file.trial, file.attempt] = f"{self.folder / file.path}: {problem}; it held {file.holds}"
        running = [a for a in self._ledger.attempts() if a.state == "running"]
        self._ledger.forget([*torn, *((attempt.trial, attempt.attempt) for attempt in running)])
        self.lost = tuple(torn.values())
        self._remove_leftovers()
        resumed = [*self._record.get("resumed_at", ()), time.time()]
        # What may change from one command to the next, such as the most blocks, is as the last one has it.
        state = {"state": "running", "error": None, "pid": os.getpid(), "resumed_at": resumed}
        self._ledger.set_facts({**record, **state})
        self._write_record()
        self._trials = list(read_trials(self.folder, self._ledger.files(), self._factors))

    def _forget(self, indices: Collection[int]) -> None:
        """Plan trials anew that are kept and count."""
        attempts = [
            (a.trial, a.attempt) for a in self._ledger.attempts() if a.trial in indices and a.state == "committed"
        ]
        self._ledger.forget(attempts)
        self._trials = [trial for trial in self._trials if (trial.index, trial.attempt) not in attempts]

    def _merged(self) -> list[File]:
        """Write one file a table of those of the trials, and return them."""
        found = self._ledger.files()
        known = {file.path for file in found}
        merged = []
        for name in tables.TABLES:
            of_table = [file for file in found if file.table == name]
            for file in of_table:
                problem = fault(self.folder, file)
                if problem:
                    raise ResultFileError(
                        self.folder / file.path, f"{problem}; it held {file.holds}. Resume the run to measure it again."
                    )
            if of_table:
                # A run that was complete and went on has a file of that name, which counts until this one does.
                path = self.folder / f"{name}.parquet"
                for number in range(2, len(known) + 2):
                    if path.name in known:
                        path = self.folder / f"{name}-{number}.parquet"
                ordered = sorted(of_table, key=lambda file: (file.trial is not None, file.trial, file.attempt))
                fill = functools.partial(merge, [self.folder / file.path for file in ordered])
                merged.append(self._write(path, fill, table=name, trial=None, attempt=None))
        sync(self.folder)
        return merged

    def _write(
        self, path: Path, fill: Callable[[IO[bytes]], None], *, table: str, trial: int | None, attempt: int | None
    ) -> File:
        write(path, fill)
        return File(
            path=str(path.relative_to(self.folder)),
            table=table,
            trial=trial,
            attempt=attempt,
            sha256=digest(path),
            bytes=path.stat().st_size,
        )

    def _write_record(self) -> None:
        self._record = self._ledger.facts()
        path = self.folder / RECORD
        try:
            write_json(path, self._record)
        except OSError as error:
            raise ResultFileError(path, f"cannot be written: {error.strerror}. The ledger holds the same.") from None

    def _remove_leftovers(self) -> None:
        """Remove the files of ours that the ledger does not name."""
        known = {file.path for file in self._ledger.files()}
        parts = self.folder / PARTS
        for path in (*self.folder.iterdir(), *(parts.iterdir() if parts.is_dir() else ())):
            if _OWN_FILE.fullmatch(path.name) and str(path.relative_to(self.folder)) not in known:
                path.unlink()
        if parts.is_dir() and not any(parts.iterdir()):
            parts.rmdir()

    def _release(self) -> None:
        self._ledger.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _new_folder(folder_of_lab: Path, now: float) -> Path:
    stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime(now))
    folder = folder_of_lab / stamp
    number = 1
    try:
        folder_of_lab.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                folder.mkdir()
                return folder
            except FileExistsError:
                number += 1
                folder = folder_of_lab / f"{stamp}-{number}"
    except OSError as error:
        raise TareError(
            f"results cannot be written to {folder}: {error.strerror}. Name another folder with --results."
        ) from None


def _lock(folder: Path) -> int:
    try:
        lock = acquire(folder)
    except OSError as error:
        raise ResultFileError(folder, f"cannot be written: {error.strerror}") from None
    if lock is None:
        raise RunInUse(folder, _writer(folder))
    return lock


def _writer(folder: Path) -> int | None:
    """The process that says it writes the run; its record may not be there yet."""
    try:
        return int(json.loads((folder / RECORD).read_text())["pid"])
    except (OSError, ValueError, KeyError):
        return None
