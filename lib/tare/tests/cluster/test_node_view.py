"""What a node sees: the copy of the CPUs on any machine, the view itself where one is root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.cluster import mounts, node_view
from tare.cluster.node_view import NodeView, copy_cpu_topology
from tare.cluster.tools import Tools
from tare.process import Commands


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Two memory nodes of two CPUs each, as /sys/devices/system shows them."""
    root = tmp_path / "sysfs"
    for cpu in range(4):
        for name, text in {"topology/core_id": cpu, "cache/index0/size": "32K", "online": 1}.items():
            file = root / "cpu" / f"cpu{cpu}" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")
    for node in range(2):
        (root / "node" / f"node{node}").mkdir(parents=True)
        (root / "node" / f"node{node}" / "meminfo").write_text(f"Node {node} MemTotal: 1024 kB\n")
        for cpu in (2 * node, 2 * node + 1):
            (root / "node" / f"node{node}" / f"cpu{cpu}").symlink_to(f"../../cpu/cpu{cpu}")
    return root


def test_a_node_sees_its_own_cpus(sysfs: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    copy_cpu_topology(sysfs, ours, (2, 3))
    assert (ours / "cpu" / "online").read_text() == "2,3\n"
    assert sorted(path.name for path in (ours / "cpu").glob("cpu*")) == ["cpu2", "cpu3"]
    assert (ours / "cpu/cpu2/topology/core_id").read_text() == "2\n"
    assert [path.name for path in (ours / "node").iterdir()] == ["node1"]
    assert (ours / "node/node1/cpu3/topology/core_id").read_text() == "3\n"
    assert (ours / "node/node1/meminfo").read_text() == "Node 1 MemTotal: 1024 kB\n"


def test_cpus_across_memory_nodes(sysfs: Path, tmp_path: Path) -> None:
    copy_cpu_topology(sysfs, tmp_path / "ours", (1, 2))
    assert (tmp_path / "ours/node/node0/cpulist").read_text() == "1\n"
    assert (tmp_path / "ours/node/node1/cpulist").read_text() == "2\n"


def test_this_machine_can_be_copied(tmp_path: Path) -> None:
    copy_cpu_topology(node_view.SYSFS, tmp_path / "ours", (0,))
    assert (tmp_path / "ours/cpu/cpu0/topology/core_id").read_text().strip().isdigit()


@pytest.fixture
def view(tools: Tools, tmp_path: Path) -> Iterator[NodeView]:
    for name in ("mount", "unshare", "nsenter"):
        program = shutil.which(name)
        assert program is not None, f"this test uses the machine's own {name}"
        tools[name].unlink()
        tools[name].symlink_to(program)
    # busybox is called as `busybox sh -c ...`; the machine's shell takes the place of its applet.
    tools["busybox"].write_text('#!/bin/sh\nshift\nexec /bin/sh "$@"\n')
    directory = tmp_path / "node"
    directory.mkdir()
    yield NodeView(directory=directory, tools=tools, commands=Commands({"PATH": os.environ["PATH"]}))
    for path in reversed(mounts.below(directory)):
        mounts.unmount(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts are root's to make")
def test_what_a_node_writes_stays_in_its_folder(view: NodeView, tools: Tools) -> None:
    view.make((0,))
    before = Path("/proc/sys/kernel/panic").read_text()
    script = (
        "mkdir /var/lib/written; touch /run/written /var/log/written;"
        "cat /sys/devices/system/cpu/online; echo 77 > /proc/sys/kernel/panic; cat /proc/sys/kernel/panic"
    )
    inside = [f"{tools['nsenter']}", f"--mount={view.namespace}", "--"]
    argv = [*inside, *map(str, view.hiding_kernel_settings(["/bin/sh", "-c", script]))]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    assert done.stdout == "0\n77\n"
    for path in ("/var/lib/written", "/run/written", "/var/log/written"):
        assert view.host(path).exists()
        assert not Path(path).exists()
    assert Path("/proc/sys/kernel/panic").read_text() == before
    # Nothing hides a part of /proc from anyone else in the view: gVisor mounts it anew and may not otherwise.
    mountinfo = subprocess.run(
        [*inside, "/bin/cat", "/proc/self/mountinfo"], check=True, capture_output=True, text=True
    )
    assert not [point for point in mounts.parse(mountinfo.stdout) if point.is_relative_to("/proc/sys")]
