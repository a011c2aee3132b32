"""`tare run kata-hlf` as a person calls it, at a small rate; interrupted and killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.system

LAB = "kata-hlf"
# Other work on this machine is no reason to repeat a trial here: no figure is judged.
SMALL = ("--profile", "quick", "--level", "runtime=runc,gvisor,kata", "--disturbed-above", "100 %")


class CommandLine:
    """The command line with a state folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "TARE_STATE_DIR": str(folder / "state")}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tare", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=900)
        return process.returncode, out, err


@pytest.fixture
def tare(tmp_path: Path) -> Iterator[CommandLine]:
    command_line = CommandLine(tmp_path)
    yield command_line
    command_line.finish("down", LAB)


@pytest.fixture(scope="module")
def lab() -> str:
    folder = os.environ.get("TARE_TEST_LAB")
    assert folder, "set TARE_TEST_LAB to the folder that `nix build --print-out-paths .#lab-kata-hlf` prints"
    return folder


def left_over(state: Path) -> list[str]:
    """Return what a lab could leave: namespaces, cgroups, mounts, its state."""
    namespaces = [f"namespace {path.name}" for path in Path("/run/netns").glob(f"tare-{LAB}*")]
    cgroups = [f"cgroup {path}" for path in Path("/sys/fs/cgroup").glob(f"**/tare/{LAB}")]
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(state) in line]
    files = [str(path) for path in state.glob("*")] if state.exists() else []
    return namespaces + cgroups + mounts + files


def wait_for_line(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"ended with {process.wait()} before it said {text!r}")


def test_a_small_run_weighs_gvisor_and_says_why_kata_was_not_run(tare: CommandLine, lab: str, tmp_path: Path) -> None:
    code, out, err = tare.finish("run", lab, *SMALL, "--no-aa", "--blocks", "2", "--json")
    assert code == 0, err
    report: dict[str, Any] = json.loads(out)
    figures = {(row["metric"], row["level"]): row for row in report["comparisons"]}
    for metric in ("goodput", "latency_mean", "cpu_per_request"):
        row = figures[metric, "gvisor"]
        assert row["n"] == 2
        assert row["low"] < row["ratio"] < row["high"]
    assert figures["cpu_per_request", "gvisor"]["ratio"] > 1
    machine = report["run"]["machine"]["capabilities"]
    lost = {entry["level"]: entry["reason"] for entry in report["not_run"]}
    if not machine["kvm-guests"]["present"]:
        assert "kvm-guests" in lost["kata"]
    stored = {path.name for path in Path(tmp_path, report["folder"]).iterdir()}
    assert {"run.json", "trials.parquet", "samples.parquet", "transactions.parquet"} <= stored
    assert left_over(tmp_path / "state") == []


def test_an_interrupt_takes_the_lab_down_and_the_run_goes_on_where_it_was(
    tare: CommandLine, lab: str, tmp_path: Path
) -> None:
    small = (*SMALL, "--no-aa", "--blocks", "1")
    process = tare.start("run", lab, *small)
    wait_for_line(process, "trial 2 of")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert left_over(tmp_path / "state") == []

    code, _, err = tare.finish("run", lab, *small, "--level", "send_rate=21", "--resume")
    assert code == 2 and "send_rate" in err, err
    code, out, err = tare.finish("run", lab, *small, "--resume", "--json")
    assert code == 0 and "1 trials are there already" in err, err
    assert [cell["trials"] for cell in json.loads(out)["cells"]] == [1, 1]
    code, _, err = tare.finish("run", lab, *small, "--resume")
    assert code == 2 and "leave --resume out" in err, err


def test_down_removes_what_a_killed_run_left(tare: CommandLine, lab: str, tmp_path: Path) -> None:
    process = tare.start("run", lab, *SMALL)
    wait_for_line(process, "containers")
    time.sleep(1)
    code, _, err = tare.finish("run", lab, *SMALL)
    assert code == 2 or code == 3
    assert str(process.pid) in err, "a second run of the lab is told who has it"
    process.kill()
    process.communicate(timeout=30)
    assert left_over(tmp_path / "state") != []
    began = time.monotonic()
    code, out, err = tare.finish("down", LAB)
    assert code == 0, out + err
    assert time.monotonic() - began < 30
    assert left_over(tmp_path / "state") == []


def test_mistakes_in_the_call_change_nothing(tare: CommandLine, lab: str, tmp_path: Path) -> None:
    for arguments, told in (
        (("run", lab, "--level", "runtime=runsc"), "gvisor"),
        (("run", lab, "--profile", "tiny"), "quick"),
        (("run", "./nowhere"), "lab.json"),
        (("run", lab, "--blocks", "many"), "--blocks"),
    ):
        code, _, err = tare.finish(*arguments)
        assert (code, told in err) == (2, True), err
    assert left_over(tmp_path / "state") == []
