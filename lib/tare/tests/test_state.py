from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.errors import TareError, UsageError
from tare.ledger import Ledger
from tare.state import KEPT, LabInUse, StateDirectory, state_root

OWN_AND_WAIT = """
import sys
from pathlib import Path
from tare.state import StateDirectory
with StateDirectory(root=Path(sys.argv[1]), lab="lab").own():
    print("owned", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(root=tmp_path / "root", lab="lab")


@pytest.fixture
def other_owner(state: StateDirectory) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", OWN_AND_WAIT, str(state.root)]
    with subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "owned\n"
        yield process
        process.kill()


def test_where_it_is() -> None:
    assert state_root({}) == Path("/var/lib/tare")
    assert StateDirectory.of("lab", {"TARE_STATE_DIR": "/srv/tare"}).path == Path("/srv/tare/lab")


@pytest.mark.parametrize("name", ["", "Lab", "../etc", "a/b", "-a", "a-", "a" * 41])
def test_names_that_are_no_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="lab name"):
        StateDirectory(root=tmp_path, lab=name)


def test_a_path_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="set TARE_STATE_DIR to a shorter path"):
        StateDirectory(root=tmp_path / ("x" * 80), lab="lab")


def test_owning_makes_the_directory_for_the_owner_only(state: StateDirectory) -> None:
    assert not state.exists()
    with state.own(), state.own():
        assert state.path.stat().st_mode & 0o777 == 0o700
        assert state.made_root
        assert state.owner() == os.getpid()
    assert state.owner() is None


def test_a_second_owner_is_refused_and_told_who_the_first_is(
    state: StateDirectory, other_owner: subprocess.Popen[str]
) -> None:
    assert state.owner() == other_owner.pid
    with (
        pytest.raises(LabInUse, match=rf"in use by process {other_owner.pid} \(.*python.*\): wait") as caught,
        state.own(),
    ):
        pass
    assert caught.value.pid == other_owner.pid


def test_the_lock_falls_with_its_owner(state: StateDirectory, other_owner: subprocess.Popen[str]) -> None:
    other_owner.kill()
    other_owner.wait()
    assert state.owner() is None
    assert not state.kept_up()
    with state.own():
        pass


def test_the_ledger_says_whether_a_lab_is_kept_up(state: StateDirectory) -> None:
    with state.own(), Ledger(state.ledger_path) as ledger:
        assert not state.kept_up()
        ledger.set_fact(KEPT, "yes")
    assert state.kept_up()


def test_all_lists_labs_with_a_ledger(state: StateDirectory) -> None:
    with state.own():
        Ledger(state.ledger_path).close()
    (state.root / "something-else").mkdir()
    environment = {"TARE_STATE_DIR": str(state.root)}
    assert [found.lab for found in StateDirectory.all(environment)] == ["lab"]
    assert StateDirectory.all({"TARE_STATE_DIR": str(state.root / "none")}) == ()


def test_a_root_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    state = StateDirectory(root=tmp_path / "file", lab="lab")
    with pytest.raises(TareError, match="set TARE_STATE_DIR to a folder of your own"), state.own():
        pass
