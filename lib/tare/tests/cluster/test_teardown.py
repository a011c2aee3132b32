"""Teardown on real resources: what the ledger has goes, whatever is gone already is fine, the rest is named."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tare.cgroup import tree_of
from tare.cluster.network import NAMESPACES
from tare.cluster.teardown import LeftBehind, tear_down
from tare.ledger import Ledger
from tare.progress import PlainProgress
from tare.state import LabInUse, StateDirectory

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="what is torn down here is root's to make")
LAB = f"pytest-{os.getpid()}"


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory) -> StateDirectory:
    # Not in a folder named after the test: paths of sockets have to be short.
    return StateDirectory(root=tmp_path_factory.mktemp("s"), lab=LAB)


def take_down(state: StateDirectory) -> list[str]:
    return tear_down(state, PlainProgress(io.StringIO()))


def record(state: StateDirectory, *resources: tuple[str, str]) -> None:
    with state.own(), Ledger(state.ledger_path) as ledger:
        for kind, name in resources:
            ledger.record(kind, name)


def test_nothing_to_remove(state: StateDirectory) -> None:
    assert take_down(state) == []


def test_an_owner_that_died_at_once(state: StateDirectory) -> None:
    with state.own():
        pass
    assert take_down(state) == [f"folder {state.path}"]
    assert not state.exists()


def test_what_is_gone_already_is_not_told_as_removed(state: StateDirectory) -> None:
    record(
        state,
        ("root", str(state.root)),
        ("cgroup", ""),
        ("namespace-folder", "/run/no-such-folder"),
        ("namespace-mount", "/run/no-such-folder"),
        ("network-namespace", "tare-pytest-none"),
        ("mounts", str(state.path)),
        ("processes", ""),
        ("processes", "supervisor"),
    )
    assert take_down(state) == [f"folder {state.path}"]
    assert not state.root.exists()


def test_the_root_stays_while_another_lab_is_in_it(state: StateDirectory) -> None:
    record(state, ("root", str(state.root)))
    (state.root / "other").mkdir()
    take_down(state)
    assert (state.root / "other").is_dir()


def test_a_kind_of_another_version_is_named_and_stays(state: StateDirectory) -> None:
    record(state, ("wormhole", "a"))
    with pytest.raises(LeftBehind, match="wormhole a: another version of Tare made it"):
        take_down(state)
    assert state.ledger_path.exists()


def test_a_lab_in_use_is_left_alone(state: StateDirectory) -> None:
    record(state)
    other = StateDirectory(root=state.root, lab=state.lab)
    with other.own(), pytest.raises(LabInUse):
        take_down(state)


@pytest.fixture
def resources(state: StateDirectory) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a cgroup and a network namespace, a mount, and a folder: all of a small lab, in its ledger."""
    ip = shutil.which("ip")
    assert ip is not None, "this test uses the machine's own ip"
    record(
        state,
        ("cgroup", ""),
        ("network-namespace", f"tare-{LAB}"),
        ("mounts", str(state.path)),
        ("processes", ""),
    )
    tree = tree_of(LAB)
    tree.make("nodes/one")
    subprocess.run([ip, "netns", "add", f"tare-{LAB}"], check=True)
    folder = state.path / "mounted"
    folder.mkdir()
    subprocess.run(["/usr/bin/env", "mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    argv = ["/usr/bin/env", "nsenter", f"--net={NAMESPACES / f'tare-{LAB}'}", sys.executable, "-c", "input()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, cwd=folder) as process:
        for directory in tree.directories("nodes/one"):
            (directory / "cgroup.procs").write_text(str(process.pid))
        yield process
        process.kill()


@needs_root
def test_everything_goes(state: StateDirectory, resources: subprocess.Popen[bytes]) -> None:
    removed = take_down(state)
    assert removed == [
        "processes",
        f"mounts {state.path}",
        f"network-namespace tare-{LAB}",
        "cgroup",
        f"folder {state.path}",
    ]
    assert resources.wait(5) == -9
    assert not (NAMESPACES / f"tare-{LAB}").exists()
    assert not tree_of(LAB).exists()
    assert not state.exists()


@needs_root
def test_half_of_it_is_gone(state: StateDirectory, resources: subprocess.Popen[bytes]) -> None:
    resources.kill()
    resources.wait()
    subprocess.run(["/usr/bin/env", "ip", "netns", "del", f"tare-{LAB}"], check=True)
    assert take_down(state) == [f"mounts {state.path}", "cgroup", f"folder {state.path}"]
