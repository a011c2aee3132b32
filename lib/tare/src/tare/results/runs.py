"""Which runs there are, and which one a word means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tare.errors import UsageError
from tare.results.files import ResultFileError
from tare.results.ledger import NAME
from tare.results.stored import RECORD, StoredRun
from tare.results.tags import LAST, tags

_SHOWN = 12


def labs(results: Path) -> tuple[str, ...]:
    """Return the names of the labs that have runs in a folder of results."""
    if not results.is_dir():
        return ()
    return tuple(sorted(folder.name for folder in results.iterdir() if folder.is_dir() and runs(results, folder.name)))


def runs(results: Path, lab: str) -> tuple[Path, ...]:
    """Return the folders of a lab's runs, oldest first, whole or not."""
    folder = results / lab
    if not folder.is_dir():
        return ()
    found = [run for run in folder.iterdir() if (run / NAME).is_file() or (run / RECORD).is_file()]
    return tuple(sorted(found, key=_order))


def find_unfinished(results: Path, lab: str, *, experiment: str) -> Path | None:
    """Return the newest run of an experiment ("" for ``tare run``) that broke off and that nobody writes now, or None.

    A run that cannot be read is passed over.
    """
    for folder in reversed(runs(results, lab)):
        try:
            run = StoredRun(folder)
        except ResultFileError:
            continue
        if run.state in ("interrupted", "failed") and run.record.get("experiment") == experiment:
            return folder
    return None


def resolve(results: Path, lab: str, what: str | Path) -> StoredRun:
    """Return the run of a lab that ``what`` means: a folder, a run's name, a tag, or "last".

    "last" is the newest run that nobody writes now. Raises UsageError, which lists what there is, ResultFileError.
    """
    found = _folder(what) or _named(results, lab, str(what))
    if found is None:
        raise UsageError(f"no run {str(what)!r} of {lab} in {results}; {_there_is(results, [lab])}")
    return StoredRun(found)


def find(results: Path, what: str) -> StoredRun:
    """Return the run of any lab that ``what`` means: as ``resolve``, or after a lab's name and a slash.

    Raises UsageError, which lists what there is, also when the word means runs of several labs.
    """
    if (folder := _folder(what)) is not None:
        return StoredRun(folder)
    lab, slash, word = what.partition("/")
    if slash and lab in labs(results):
        return resolve(results, lab, word)
    found = {name: run for name in labs(results) if (run := _named(results, name, what)) is not None}
    if len(found) > 1:
        listed = ", ".join(f"{name}/{what}" for name in found)
        raise UsageError(f"{what!r} is a run of several labs; say which: {listed}")
    if not found:
        raise UsageError(f"no run {what!r} in {results}; {_there_is(results, labs(results))}")
    return StoredRun(*found.values())


def _folder(what: str | Path) -> Path | None:
    """A path, or a word with a slash, means a folder if there is a run in it."""
    if isinstance(what, str) and "/" not in what and what not in (".", ".."):
        return None
    folder = Path(what)
    return folder if (folder / NAME).is_file() or (folder / RECORD).is_file() else None


def _named(results: Path, lab: str, word: str) -> Path | None:
    found = {run.name: run for run in runs(results, lab)}
    if word == LAST:
        return next((run for run in reversed(found.values()) if _ended(run)), None)
    return found.get(tags(results / lab).get(word, word))


def _ended(run: Path) -> bool:
    try:
        return StoredRun(run).state != "running"
    except ResultFileError:
        return False


def _there_is(results: Path, names: Sequence[str]) -> str:
    """Say what there is, the newest first."""
    lines = []
    for lab in names:
        tagged: dict[str, list[str]] = {}
        for tag, run in tags(results / lab).items():
            tagged.setdefault(run, []).append(tag)
        newest = [run.name for run in reversed(runs(results, lab))]
        lines += [
            f"\n  {lab}/{run}" + (f"  ({', '.join(sorted(tagged[run]))})" if run in tagged else "")
            for run in newest[:_SHOWN]
        ]
        lines += [f"\n  and {len(newest) - _SHOWN} older ones of {lab}"] if len(newest) > _SHOWN else []
    return f"there are:{''.join(lines)}" if lines else "there are none. `tare run LAB` makes one."


def _order(run: Path) -> tuple[str, int]:
    """Runs are named by the second they began in, and by a number if there are several."""
    found = re.fullmatch(r"(.*Z)(?:-([0-9]+))?", run.name)
    return (found[1], int(found[2] or 1)) if found else (run.name, 0)
