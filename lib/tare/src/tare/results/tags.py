"""Names that a person gives to runs: ``tags.json`` in the folder of the lab."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tare.errors import TareError, UsageError
from tare.results.files import read_json, write_json
from tare.results.lock import alone

FILE = "tags.json"
LAST = "last"
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


def tags(folder_of_lab: Path) -> Mapping[str, str]:
    """Return the run's name of each tag; none when there is no such file. Raises ResultFileError."""
    path = folder_of_lab / FILE
    return read_json(path, mend="Correct or remove it, and tag again.") if path.exists() else {}


def tags_of(run: Path) -> tuple[str, ...]:
    """Return the tags of a run, given its folder, in order."""
    run = run.absolute()
    return tuple(sorted(tag for tag, name in tags(run.parent).items() if name == run.name))


def tag(run: Path, name: str, *, move: bool = False) -> None:
    """Give a run, given its folder, a name. ``move`` takes the name from the run that has it.

    Raises UsageError for a name that means something else, or is another run's; TareError when it cannot be kept.
    """
    run = run.absolute()
    if not _TAG.fullmatch(name):
        raise UsageError(
            f"tag {name!r}: expected at most 64 letters, digits and any of . _ + - after the first, such as v1.2"
        )
    if name == LAST or (run.parent / name).exists():
        raise UsageError(f"tag {name!r}: that means another run already; choose another, such as v1.2")
    try:
        with alone(run.parent):
            known = dict(tags(run.parent))
            if known.get(name, run.name) != run.name and not move:
                raise UsageError(f"tag {name!r} is that of {known[name]}; move it with --move, or choose another")
            write_json(run.parent / FILE, {**known, name: run.name})
    except OSError as error:
        raise TareError(f"{run.parent / FILE}: cannot be written: {error.strerror}") from None
