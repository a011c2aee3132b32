"""Removes what a lab made, by its ledger, newest first: whoever died and however, and nothing else.

No program is needed for it, only system calls, so it works with an emptied store, on a full
disk, and when half of it is gone already.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from tare.cgroup import CgroupError, tree_of
from tare.cluster import mounts
from tare.cluster.network import NAMESPACES
from tare.errors import TareError
from tare.ledger import Ledger, Resource
from tare.progress import Progress
from tare.state import StateDirectory

_REMOVE_SECONDS = 5.0


class LeftBehind(TareError):
    """Some things could not be removed; the ledger still has them, so the next ``tare down`` tries again."""

    def __init__(self, lab: str, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            f"{lab}: not everything could be removed; try `tare down {lab}` again:\n"
            + "\n".join(f"  {problem}" for problem in problems)
        )


def tear_down(state: StateDirectory, progress: Progress) -> list[str]:
    """Remove everything in the lab's ledger, and the state directory; return what was removed.

    Nothing there is fine. Raises LabInUse while another command owns the lab, LeftBehind naming what stays.
    """
    if not state.exists():
        return []
    with state.own():
        resources: tuple[Resource, ...] = ()
        if state.ledger_path.exists():
            with Ledger(state.ledger_path, exclusive=True) as ledger:
                resources = ledger.resources()
        removed: list[str] = []
        problems: list[str] = []
        for resource in reversed(resources):
            try:
                if _REMOVE[resource.kind](resource.name, state):
                    removed.append(_describe(resource))
            except KeyError:
                problems.append(f"{_describe(resource)}: another version of Tare made it and can remove it")
            except (OSError, CgroupError) as error:
                problems.append(f"{_describe(resource)}: {error}")
        if problems:
            for problem in problems:
                progress.note(f"left behind: {problem}")
            raise LeftBehind(state.lab, problems)
        _remove_tree(state.path)
        removed.append(f"folder {state.path}")
        for resource in resources:
            if resource.kind == "root":
                with contextlib.suppress(OSError):  # another lab's state is beside this one's
                    Path(resource.name).rmdir()
    return removed


def _describe(resource: Resource) -> str:
    return f"{resource.kind} {resource.name}".rstrip()  # the empty name is that of the lab's whole cgroup


def _kill(path: str, state: StateDirectory) -> bool:
    tree = tree_of(state.lab)
    there = bool(tree.processes(path))
    tree.kill(path)
    return there


def _remove_cgroup(path: str, state: StateDirectory) -> bool:
    tree = tree_of(state.lab)
    there = tree.exists(path)
    tree.remove(path)
    return there


def _unmount_below(name: str, state: StateDirectory) -> bool:
    points = mounts.below(Path(name))
    for path in reversed(points):
        mounts.unmount(path)
    return bool(points)


def _remove_network_namespace(name: str, state: StateDirectory) -> bool:
    path = NAMESPACES / name
    if not path.exists():
        return False
    if path in mounts.below(NAMESPACES):
        mounts.unmount(path)
    path.unlink()
    return True


def _unmount_namespace_folder(name: str, state: StateDirectory) -> bool:
    folder = Path(name)
    if _in_use(folder) or folder not in mounts.below(folder):
        return False
    mounts.unmount(folder)
    return True


def _remove_namespace_folder(name: str, state: StateDirectory) -> bool:
    folder = Path(name)
    if _in_use(folder) or not folder.is_dir():
        return False
    folder.rmdir()
    return True


def _in_use(folder: Path) -> bool:
    """Return whether someone else's namespaces are in the folder."""
    return folder.is_dir() and any(folder.iterdir())


def _nothing_now(name: str, state: StateDirectory) -> bool:
    return False  # holds the state directory itself, which goes last


_REMOVE: dict[str, Callable[[str, StateDirectory], bool]] = {
    "cgroup": _remove_cgroup,
    "mounts": _unmount_below,
    "namespace-folder": _remove_namespace_folder,
    "namespace-mount": _unmount_namespace_folder,
    "network-namespace": _remove_network_namespace,
    "processes": _kill,
    "root": _nothing_now,
}


def _remove_tree(path: Path) -> None:
    """Remove a directory. What a dying process still writes there is removed at the next try."""
    deadline = time.monotonic() + _REMOVE_SECONDS
    while True:
        try:
            shutil.rmtree(path)
            return
        except FileNotFoundError:
            if not path.exists():
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise LeftBehind(path.name, [f"{error.filename}: {error.strerror}"]) from error
        time.sleep(0.05)
