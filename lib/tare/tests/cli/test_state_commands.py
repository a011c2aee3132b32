"""``status``, ``logs`` and ``down`` on a state directory, without a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tare.cli import tare
from tare.cli.status import describe
from tare.ledger import Ledger
from tare.state import StateDirectory


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateDirectory:
    monkeypatch.setenv("TARE_STATE_DIR", str(tmp_path))
    return StateDirectory.of("kata-hlf")


@pytest.fixture
def left_over(state: StateDirectory) -> StateDirectory:
    """What a command that was killed leaves."""
    state.logs.mkdir(parents=True)
    (state.logs / "etcd.log").write_text("".join(f"line {number}\n" for number in range(100)))
    with Ledger(state.ledger_path) as ledger:
        ledger.record("network-namespace", "tare-test-none")
        ledger.record("mounts", str(state.path / "mnt"))
    return state


def invoke(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(tare, list(words))
    return result.exit_code, result.stdout, result.stderr


def test_no_lab(state: StateDirectory) -> None:
    assert invoke("status") == (0, "no lab is up\n", "")
    assert invoke("status", "kata-hlf")[1] == "kata-hlf: down\n"
    assert json.loads(invoke("status", "--json")[1]) == []


def test_a_lab_that_was_left_over(left_over: StateDirectory) -> None:
    code, out, _ = invoke("status")
    assert code == 0
    assert out == ("kata-hlf: left over\n  made: 1 mounts, 1 network-namespace\n  `tare down kata-hlf` removes it\n")


def test_a_lab_in_use(left_over: StateDirectory) -> None:
    with left_over.own():
        assert describe(left_over)["state"] == "in use"


def test_a_name_that_no_lab_can_have(state: StateDirectory) -> None:
    code, _, err = invoke("status", "Kata")
    assert code == 2
    assert "lab name 'Kata': expected" in err


def test_logs_are_listed_and_shown(left_over: StateDirectory) -> None:
    assert invoke("logs", "kata-hlf")[1] == "etcd  790 B\n"
    assert invoke("logs", "kata-hlf", "etcd", "-n", "2")[1] == "line 98\nline 99\n"


def test_an_unknown_log_is_told(left_over: StateDirectory) -> None:
    code, _, err = invoke("logs", "kata-hlf", "kubelet")
    assert code == 2
    assert "kata-hlf has no log of 'kubelet'; there are: etcd" in err


def test_kubectl_of_a_lab_that_is_down(state: StateDirectory) -> None:
    code, _, err = invoke("kubectl", "kata-hlf", "--", "get", "pods")
    assert code in (2, 3)  # without root, it is that which is told
    assert "kata-hlf is not up" in err or "not root" in err


def test_logs_of_a_lab_that_is_down(state: StateDirectory) -> None:
    code, _, err = invoke("logs", "kata-hlf")
    assert code == 2
    assert "kata-hlf is not up and left no logs" in err
