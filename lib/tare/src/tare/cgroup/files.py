"""The files and directories of cgroups: read, written, made and removed, with the kernel's refusals told."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from tare.errors import TareError


class CgroupError(TareError):
    """The kernel refused a change to a cgroup; ``file`` is where."""

    def __init__(self, file: Path, problem: str) -> None:
        self.file = file
        super().__init__(f"{file}: {problem}")


def down(root: Path, *parts: str) -> Iterator[Path]:
    directory = root
    for part in PurePosixPath(*parts).parts:
        directory /= part
        yield directory


def walk(top: Path) -> list[Path]:
    """Return the directories at and below ``top``, each before those below it."""
    return [Path(directory) for directory, _, _ in os.walk(top)]


def remove_below(top: Path) -> list[OSError]:
    problems = []
    for directory in reversed(walk(top)):
        try:
            directory.rmdir()
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(error)
    return problems


@contextlib.contextmanager
def vanishing(*allowed: int) -> Iterator[None]:
    """Let a cgroup be removed by someone else while it is looked at; and let it answer with an ``allowed`` errno."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENODEV, *allowed):
            raise


def make_directory(directory: Path) -> None:
    try:
        directory.mkdir(exist_ok=True)
    except OSError as error:
        raise CgroupError(directory, f"cannot be made: {error.strerror}") from error


def write(file: Path, value: str | int) -> None:
    try:
        file.write_text(f"{value}")
    except OSError as error:
        raise CgroupError(file, f"does not take {str(value)!r}: {error.strerror}") from error


def words(file: Path) -> set[str]:
    return set(file.read_text().split())


def table(file: Path) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in file.read_text().splitlines())}


def show_pids(pids: Iterable[int]) -> str:
    ordered = sorted(pids)
    more = f" and {len(ordered) - 8} more" if len(ordered) > 8 else ""
    return ", ".join(map(str, ordered[:8])) + more
