"""The supervisor: its files anywhere, supervisord itself where one is root."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.cgroup import tree_of
from tare.cgroup.v2 import CgroupTreeV2
from tare.cluster.network import NAMESPACES
from tare.cluster.supervision import Program, ProgramFailed, Supervisor, configuration_text, start_script
from tare.cluster.tools import Tools
from tare.errors import NotReady, TareError
from tare.process import Commands

LAB = f"pytest-{os.getpid()}"
NAMESPACE = f"tare-{LAB}"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="cgroups and namespaces are root's to make")


def test_a_program_enters_its_cgroup_and_namespaces_before_it_starts(tools: Tools) -> None:
    tree = CgroupTreeV2(lab="lab", root=Path("/cgroups"))
    program = Program(
        name="x",
        argv=["/bin/x", "a b"],
        cgroup="nodes/one",
        network_namespace="tare-lab",
        mount_namespace=Path("/state/view"),
        environment={"PATH": "/one:/two"},
    )
    assert start_script(program, tools, tree, Path("/logs")).splitlines() == [
        "exec >> /logs/x.log 2>&1",
        "set -e",
        "echo $$ > /cgroups/tare/lab/nodes/one/cgroup.procs",
        "export PATH=/one:/two",
        f"exec {tools['nsenter']} --net=/run/netns/tare-lab --mount=/state/view -- /bin/x 'a b'",
    ]


def test_nothing_starts_by_itself_and_everything_starts_again() -> None:
    text = configuration_text(Path("/state"), {"etcd": Path("/state/50%/etcd")})
    assert "[program:etcd]" in text
    assert "autostart = false" in text
    assert "autorestart = true" in text
    assert "command = /state/50%%/etcd" in text


@pytest.fixture
def supervisor(tools: Tools, tmp_path: Path) -> Iterator[Supervisor]:
    nsenter = shutil.which("nsenter")
    assert nsenter is not None, "this test uses the machine's own nsenter"
    tools["nsenter"].unlink()
    tools["nsenter"].symlink_to(nsenter)
    # `#!busybox sh` is the first line of scripts: the machine's shell takes the place of the applet.
    tools["busybox"].write_text('#!/bin/sh\nshift\nexec /bin/sh "$@"\n')
    tools["python"].unlink()
    tools["python"].symlink_to(sys.executable)
    tree = tree_of(LAB)
    tree.make("daemons")
    subprocess.run(["/usr/bin/env", "ip", "netns", "add", NAMESPACE], check=True)
    directory = tmp_path / "supervisor"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    supervisor = Supervisor(
        directory=directory, logs=tmp_path / "logs", tools=tools, commands=Commands(environment), tree=tree
    )
    yield supervisor
    tree.kill("supervisor")
    tree.kill()
    tree.remove()
    supervisor.reap()
    subprocess.run(["/usr/bin/env", "ip", "netns", "del", NAMESPACE], check=True)


def program(name: str, *argv: str) -> Program:
    return Program(name=name, argv=argv, cgroup="daemons", network_namespace=NAMESPACE)


def until(supervisor: Supervisor, name: str, state: str) -> None:
    deadline = time.monotonic() + 20
    while supervisor.states()[name] != state:
        assert time.monotonic() < deadline, supervisor.states()
        time.sleep(0.05)


@needs_root
def test_a_daemon_that_is_killed_starts_again_where_it_was(supervisor: Supervisor) -> None:
    supervisor.start([program("sleeper", "/bin/sleep", "1000"), program("idle", "/bin/sleep", "1")])
    tree = tree_of(LAB)
    assert supervisor.states() == {"sleeper": "STOPPED", "idle": "STOPPED"}
    supervisor.run("sleeper")
    until(supervisor, "sleeper", "RUNNING")
    (first,) = tree.processes("daemons")
    assert Path(f"/proc/{first}/ns/net").stat().st_ino == (NAMESPACES / NAMESPACE).stat().st_ino
    os.kill(first, signal.SIGKILL)
    time.sleep(0.3)
    until(supervisor, "sleeper", "RUNNING")
    (second,) = tree.processes("daemons")
    assert second != first
    supervisor.check(["sleeper"])


@needs_root
def test_a_daemon_that_does_not_stay_up_is_told_with_its_log(supervisor: Supervisor) -> None:
    supervisor.start([program("broken", "/bin/sh", "-c", "echo no such option >&2; exit 2")])
    supervisor.run("broken")
    until(supervisor, "broken", "FATAL")
    with pytest.raises(ProgramFailed, match=r"broken does not stay up \(FATAL\).*\nno such option"):
        supervisor.check(["broken"])
    with pytest.raises(TareError, match="does not start nobody"):
        supervisor.run("nobody")


@needs_root
def test_a_supervisor_that_does_not_start_is_told(supervisor: Supervisor, tools: Tools) -> None:
    tools["python"].unlink()
    tools["python"].write_text("#!/bin/sh\necho no module named supervisor\nexit 1\n")
    tools["python"].chmod(0o755)
    with pytest.raises(NotReady, match="no module named supervisor"):
        supervisor.start([])


@needs_root
def test_a_dead_supervisor_is_told(supervisor: Supervisor) -> None:
    supervisor.start([program("sleeper", "/bin/sleep", "1000")])
    tree_of(LAB).kill("supervisor")
    with pytest.raises(TareError, match="the supervisor does not answer"):
        supervisor.run("sleeper")
