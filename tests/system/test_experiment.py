"""An experiment on the real lab, through pytest: killed in the middle, and taken up by the same command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tare.results import StoredRun, runs

pytestmark = pytest.mark.system

LAB = "kata-hlf"
EXPERIMENT = """
from tare import Factor, experiment

@experiment(
    lab={lab!r},
    factor=Factor("runtime", baseline="runc", levels=["runc", "gvisor"]),
    across=[Factor("total_cpus", levels=[1.0]), Factor("send_rate", levels=[20])],
    blocks=(2, 2),
    warmup="1 s",
    duration="3 s",
    aa=False,
)
def small(trial):
    trial.load("caliper")

def test_gvisor_answers(small):
    assert small.lab.node("fabric").host.process.get(comm="kubelet").user == "root"
    assert small.goodput(runtime="gvisor") / small.goodput(runtime="runc") >= 0.1
"""


class Session:
    """pytest in a folder of its own, with a state folder of its own."""

    def __init__(self, folder: Path, state: Path, lab: str) -> None:
        self.folder = folder
        self.environment = {**os.environ, "TARE_STATE_DIR": str(state)}
        (folder / "test_small.py").write_text(EXPERIMENT.format(lab=lab))
        # Other work on this machine is no reason to repeat a trial here: no figure is judged.
        options = ("--undecided=pass", "--tare-disturbed-above=100 %", "--tare-report=report.html")
        self.command = [sys.executable, "-m", "pytest", "-p", "tare.plugin", *options]

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stored(self) -> StoredRun | None:
        found = runs(self.folder / "results", LAB)
        return StoredRun(found[-1]) if found else None


@pytest.fixture
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    lab = os.environ.get("TARE_TEST_LAB")
    assert lab, "set TARE_TEST_LAB to the folder of the built lab kata-hlf"
    return Session(tmp_path_factory.mktemp("pytest"), tmp_path_factory.mktemp("s"), lab)


def wait_for_a_trial(session: Session, process: subprocess.Popen[str]) -> None:
    for _ in range(600):
        stored = session.stored()
        if stored is not None and stored.trials():
            return
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.5)
    raise AssertionError("no trial was committed within five minutes")


def test_a_session_that_was_killed_is_taken_up_without_repeating_a_trial(session: Session) -> None:
    process = session.start()
    wait_for_a_trial(session, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    broken_off = session.stored()
    assert broken_off is not None and broken_off.state == "interrupted"
    before = broken_off.trials()
    assert 1 <= len(before) < 4

    process = session.start()
    out, _ = process.communicate(timeout=900)
    assert process.returncode == 0, out
    assert f"{len(before)} trials are there already" in out
    assert len(runs(session.folder / "results", LAB)) == 1
    whole = session.stored()
    assert whole is not None and whole.state == "complete"
    assert [trial.index for trial in whole.trials()] == [0, 1, 2, 3]
    assert [trial.began_at for trial in whole.trials()][: len(before)] == [trial.began_at for trial in before]
    assert all(trial.metrics["goodput"] > 0 for trial in whole.trials())
    assert "goodput(runtime=gvisor) / goodput(runtime=runc)" in out and "not bounded yet" in out
    assert "<svg" in (session.folder / "report.html").read_text()
    assert not list(Path("/run/netns").glob(f"tare-{LAB}*"))
