"""Version 1 on the real kernel where it has it, version 2 on a tree with the files a version 2 kernel shows."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.cgroup import CgroupError, CgroupTree, CgroupUsage, cpu_list, pressure_seconds, tree_of
from tare.cgroup.hierarchies import hierarchies
from tare.cgroup.v1 import CgroupTreeV1
from tare.cgroup.v2 import CgroupTreeV2, weight

DATA = Path(__file__).parent / "data" / "cluster"
MEASURED = Path(__file__).parent / "data" / "measure"  # files as a kernel showed them
REAL = hierarchies(Path("/proc/self/mountinfo").read_text())
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="cgroups are root's to change")
needs_v1 = pytest.mark.skipif(bool(REAL.missing_v1), reason="this kernel's controllers are not those of version 1")
needs_unified = pytest.mark.skipif(REAL.v2 is None, reason="no cgroup2 is mounted")


def test_version_1_mounts_are_found_by_controller() -> None:
    found = hierarchies((DATA / "mountinfo-v1.txt").read_text())
    assert found.missing_v1 == ()
    assert found.v1["cpu"] == Path("/sys/fs/cgroup/cpu")
    assert found.v1["name=systemd"] == Path("/sys/fs/cgroup/systemd")
    assert found.v2 == Path("/sys/fs/cgroup/unified")


def test_controllers_mounted_together_share_a_hierarchy() -> None:
    line = "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    found = hierarchies(line).v1
    assert found == dict.fromkeys(("cpu", "cpuacct"), Path("/sys/fs/cgroup/cpu,cpuacct"))


def test_a_hierarchy_that_a_kubelet_insists_on_is_used() -> None:
    line = "40 25 0:36 / /sys/fs/cgroup/hugetlb rw - cgroup cgroup rw,hugetlb\n"
    assert hierarchies(line).v1 == {"hugetlb": Path("/sys/fs/cgroup/hugetlb")}


def test_version_2_mount_is_found() -> None:
    found = hierarchies((DATA / "mountinfo-v2.txt").read_text())
    assert found.v1 == {}
    assert found.v2 == Path("/sys/fs/cgroup")


def test_a_machine_without_cgroups_is_told(tmp_path: Path) -> None:
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text("22 28 0:20 / /sys rw - sysfs sysfs rw\n")
    with pytest.raises(CgroupError, match="no cgroup2 mount, and no version 1 mount for cpu, cpuacct"):
        tree_of("lab", mountinfo=mountinfo)


def test_a_container_that_was_given_no_controllers_is_told(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("pids\n")
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(f"22 28 0:20 / {tmp_path} rw - cgroup2 cgroup2 rw\n")
    with pytest.raises(CgroupError, match="cpu, cpuset, memory are not among pids"):
        tree_of("lab", mountinfo=mountinfo)


@given(st.integers(min_value=-5, max_value=400_000))
def test_weights_stay_in_their_range(shares: int) -> None:
    assert 1 <= weight(shares) <= 10_000
    assert weight(shares) <= weight(shares + 1)


def test_weights_as_runc_maps_them() -> None:
    assert (weight(2), weight(1024), weight(262_144)) == (1, 39, 10_000)


def test_lists_of_cpus_as_the_kernel_writes_them() -> None:
    assert cpu_list("0-2,7\n") == (0, 1, 2, 7)
    assert cpu_list("\n") == ()


@pytest.fixture
def tree() -> Iterator[CgroupTree]:
    tree = tree_of(f"pytest-{os.getpid()}")
    yield tree
    tree.kill()
    tree.remove()
    assert not tree.exists()


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield process
        process.kill()


def enter(tree: CgroupTree, path: str, pid: int) -> None:
    for directory in tree.directories(path):
        (directory / "cgroup.procs").write_text(str(pid))


@needs_root
@needs_v1
def test_v1_children_of_others_start_with_their_parents_cpus(tree: CgroupTree) -> None:
    tree.make("nodes/one", cpus=(0,))
    cpuset = REAL.v1["cpuset"] / tree.name / "nodes" / "one"
    assert (cpuset / "cpuset.cpus").read_text() == "0\n"
    assert (cpuset.parent / "cpuset.cpus").read_text() == (REAL.v1["cpuset"] / "cpuset.cpus").read_text()
    (cpuset / "made-by-a-runtime").mkdir()
    assert (cpuset / "made-by-a-runtime" / "cpuset.cpus").read_text() == "0\n"
    assert (cpuset / "made-by-a-runtime" / "cpuset.mems").read_text().strip()


@needs_root
def test_usage_is_counted_and_everything_dies(tree: CgroupTree, sleeper: subprocess.Popen[bytes]) -> None:
    tree.make("busy/inner", cpu_shares=512)
    enter(tree, "busy/inner", sleeper.pid)
    assert tree.processes("busy") == {sleeper.pid}
    assert tree.processes("busy", recursive=False) == set()
    time.sleep(0.3)
    assert 0.05 < tree.usage("busy").cpu_seconds < 5
    assert tree.usage("busy").memory_bytes > 0
    assert tree.usage("busy/inner").throttled_seconds == 0
    tree.kill("busy")
    assert sleeper.wait(5) == -9
    tree.remove("busy")
    with pytest.raises(OSError):
        tree.usage("busy")
    assert tree.processes("busy") == set()


@needs_root
@needs_v1
def test_v1_frozen_processes_die_too(tree: CgroupTree, sleeper: subprocess.Popen[bytes]) -> None:
    tree.make("paused")
    enter(tree, "paused", sleeper.pid)
    (REAL.v1["freezer"] / tree.name / "paused" / "freezer.state").write_text("FROZEN")
    tree.kill("paused")
    assert sleeper.wait(5) == -9


@needs_root
def test_a_quota_throttles(tree: CgroupTree, sleeper: subprocess.Popen[bytes]) -> None:
    tree.make("slow")
    tree.set_cpu_quota("slow", 0.25)
    enter(tree, "slow", sleeper.pid)
    time.sleep(0.5)
    usage = tree.usage("slow")
    assert usage.throttled_seconds > 0
    assert 0 < usage.throttled_periods <= usage.periods


@needs_root
@needs_v1
def test_v1_a_quota_below_those_of_children_is_taken_and_given_back(tree: CgroupTree) -> None:
    tree.make("pods/one/container")
    tree.make("pods/two")
    cpu = REAL.v1["cpu"] / tree.name / "pods"

    def quotas() -> tuple[int, ...]:
        paths = (cpu, cpu / "one", cpu / "one" / "container", cpu / "two")
        return tuple(int((path / "cpu.cfs_quota_us").read_text()) for path in paths)

    tree.set_cpu_quota("pods/one", 2)
    tree.set_cpu_quota("pods/one/container", 1.5)
    (cpu / "two" / "cpu.cfs_period_us").write_text("50000")
    tree.set_cpu_quota("pods/two", 1)
    assert quotas() == (-1, 200_000, 150_000, 50_000)
    tree.set_cpu_quota("pods", 0.25)
    assert quotas() == (25_000, 25_000, 25_000, 12_500)
    tree.set_cpu_quota("pods", 1.75)
    assert quotas() == (175_000, 175_000, 150_000, 50_000)
    tree.set_cpu_quota("pods", None)
    assert quotas() == (-1, 200_000, 150_000, 50_000)


@needs_root
def test_what_the_kernel_refuses_is_named(tree: CgroupTree) -> None:
    with pytest.raises(CgroupError, match=r"cpuset\.cpus: does not take '4096'"):
        tree.make("wrong", cpus=(4096,))


def test_removing_what_is_not_there_is_fine() -> None:
    tree = tree_of("pytest-none")
    tree.kill()
    tree.remove()


@needs_root
@needs_unified
def test_v2_processes_and_kill_on_the_real_hierarchy(sleeper: subprocess.Popen[bytes]) -> None:
    assert REAL.v2 is not None
    tree = CgroupTreeV2(lab=f"pytest-v2-{os.getpid()}", root=REAL.v2)
    # Made by hand, so that the controllers of the machine stay where they are.
    tree.directories("leaf/inner")[0].mkdir(parents=True)
    try:
        enter(tree, "leaf/inner", sleeper.pid)
        assert tree.processes("leaf") == {sleeper.pid}
        tree.kill("leaf")
        assert sleeper.wait(5) == -9
    finally:
        tree.remove()
    assert not tree.exists()


@needs_root
@needs_unified
def test_v2_processes_above_a_threaded_cgroup_on_the_real_hierarchy(sleeper: subprocess.Popen[bytes]) -> None:
    assert REAL.v2 is not None
    tree = CgroupTreeV2(lab=f"pytest-threaded-{os.getpid()}", root=REAL.v2)
    # Made by hand, so that the controllers of the machine stay where they are.
    tree.directories("leaf/inner")[0].mkdir(parents=True)
    try:
        (REAL.v2 / tree.name / "leaf" / "inner" / "cgroup.type").write_text("threaded")
        enter(tree, "leaf", sleeper.pid)
        assert tree.processes("leaf") == {sleeper.pid}
        tree.kill("leaf")
        assert sleeper.wait(5) == -9
    finally:
        tree.remove()
    assert not tree.exists()


CONTROLLERS = "cpuset cpu io memory hugetlb pids rdma misc\n"
KERNEL_FILES = {
    "cgroup.controllers": CONTROLLERS,
    "cgroup.subtree_control": "",
    "cgroup.procs": "",
    "cpu.max": "max 100000\n",
    "cpu.stat": "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n"
    "nr_periods 12\nnr_throttled 3\nthrottled_usec 750000\nnr_bursts 0\nburst_usec 0\n",
    "cpu.weight": "100\n",
    "cpuset.cpus": "\n",
    "cpuset.cpus.effective": "2-3\n",
    "memory.current": "104857600\n",
    "memory.stat": "anon 52428800\nfile 41943040\ninactive_file 20971520\nactive_file 20971520\n",
}


@pytest.fixture
def v2_root(tmp_path: Path) -> Path:
    """A version 2 mount in which the cgroups of a lab ``lab`` have been made, as a kernel would show it."""
    for path in ("", "tare", "tare/lab", "tare/lab/nodes", "tare/lab/nodes/one", "tare/lab/nodes/one/pods"):
        (tmp_path / path).mkdir(exist_ok=True)
        for name, text in KERNEL_FILES.items():
            (tmp_path / path / name).write_text(text)
    return tmp_path


def test_v2_is_detected(v2_root: Path) -> None:
    mountinfo = v2_root / "mountinfo"
    mountinfo.write_text(f"34 22 0:28 / {v2_root} rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n")
    tree = tree_of("lab", mountinfo=mountinfo)
    assert isinstance(tree, CgroupTreeV2)
    assert tree.version == 2
    assert tree.directories("nodes/one") == (v2_root / "tare/lab/nodes/one",)
    assert tree.kernel_path("nodes/one") == "/tare/lab/nodes/one"


def test_v2_controllers_are_passed_on_from_the_root_to_the_parent_only(v2_root: Path) -> None:
    CgroupTreeV2(lab="lab", root=v2_root).make("nodes/one", cpus=(2, 3), cpu_shares=64)
    for path in ("", "tare", "tare/lab", "tare/lab/nodes"):
        wanted = "+cpu +cpuset +hugetlb +io +memory +pids"
        assert (v2_root / path / "cgroup.subtree_control").read_text() == wanted, path
    leaf = v2_root / "tare/lab/nodes/one"
    assert (leaf / "cgroup.subtree_control").read_text() == ""  # it may hold processes
    assert (leaf / "cpuset.cpus").read_text() == "2,3"
    assert (leaf / "cpu.weight").read_text() == str(weight(64))


def test_v2_cpus_that_the_kernel_takes_and_does_not_give_are_told(v2_root: Path) -> None:
    with pytest.raises(CgroupError, match=r"cpuset\.cpus: asked for the CPUs 3,4, the kernel gives 2-3; ask for CPUs"):
        CgroupTreeV2(lab="lab", root=v2_root).make("nodes/one", cpus=(3, 4))


def test_v2_controllers_that_are_on_are_not_written_again(v2_root: Path) -> None:
    (v2_root / "cgroup.subtree_control").write_text("cpuset cpu io memory hugetlb pids\n")
    CgroupTreeV2(lab="lab", root=v2_root).make("nodes")
    assert (v2_root / "cgroup.subtree_control").read_text() == "cpuset cpu io memory hugetlb pids\n"


def test_v2_a_root_with_processes_is_told(v2_root: Path) -> None:
    (v2_root / "cgroup.procs").write_text("17\n4\n")
    (v2_root / "cgroup.subtree_control").unlink()
    # Refuses what is written, as the kernel does: a file of /proc that takes numbers only.
    (v2_root / "cgroup.subtree_control").symlink_to("/proc/self/oom_score_adj")
    with pytest.raises(CgroupError, match=r"processes stand in it \(4, 17\).*move them into one below"):
        CgroupTreeV2(lab="lab", root=v2_root).make("nodes")


def test_v2_quota(v2_root: Path) -> None:
    tree = CgroupTreeV2(lab="lab", root=v2_root)
    tree.set_cpu_quota("nodes/one/pods", 0.25)
    assert (v2_root / "tare/lab/nodes/one/pods/cpu.max").read_text() == "25000 100000"
    tree.set_cpu_quota("nodes/one/pods", None)
    assert (v2_root / "tare/lab/nodes/one/pods/cpu.max").read_text() == "max 100000"


def recorded_v1(folder: Path) -> CgroupTreeV1:
    mounts = {name: folder / name for name in ("cpu", "cpuacct", "cpuset", "memory", "pids")}
    return CgroupTreeV1(lab="lab", controllers=mounts, unified=folder / "unified")


def test_v1_readings() -> None:
    assert recorded_v1(MEASURED / "v1").usage("pod") == CgroupUsage(
        cpu_seconds=2.002919491,
        memory_bytes=45342720 - 8388608,
        throttled_seconds=1.343719069,
        periods=40,
        throttled_periods=39,
        pressure_cpu_seconds=1.976625,
        pressure_memory_seconds=0.0,
        pressure_io_seconds=0.0,
    )


def test_v1_a_cgroup_of_a_container_runtime_has_no_pressure(tmp_path: Path) -> None:
    shutil.copytree(MEASURED / "v1", tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "unified" / "tare" / "lab" / "pod")
    usage = recorded_v1(tmp_path).usage("pod")
    assert (usage.pressure_cpu_seconds, usage.pressure_memory_seconds, usage.pressure_io_seconds) == (None, None, None)
    assert usage.cpu_seconds == 2.002919491


def test_v2_readings() -> None:
    assert CgroupTreeV2(lab="lab", root=MEASURED / "v2").usage("pod") == CgroupUsage(
        cpu_seconds=6.229794,
        memory_bytes=2097152,
        throttled_seconds=6.278391,
        periods=85,
        throttled_periods=85,
        pressure_cpu_seconds=6.365623,
        pressure_memory_seconds=0.0,
        pressure_io_seconds=0.0,
    )


def test_v2_a_kernel_without_pressure_and_a_cgroup_without_a_quota(v2_root: Path) -> None:
    (v2_root / "tare/lab/nodes/one/cpu.stat").write_text("usage_usec 2500000\nuser_usec 0\nsystem_usec 2500000\n")
    assert CgroupTreeV2(lab="lab", root=v2_root).usage("nodes/one") == CgroupUsage(
        cpu_seconds=2.5, memory_bytes=80 << 20, throttled_seconds=0.0, periods=0, throttled_periods=0
    )


def test_pressure_that_is_switched_off_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def switched_off(self: Path) -> str:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(Path, "read_text", switched_off)
    assert pressure_seconds(tmp_path / "cpu.pressure") is None


def test_v2_processes_of_the_whole_subtree(v2_root: Path) -> None:
    (v2_root / "tare/lab/nodes/cgroup.procs").write_text("5\n")
    (v2_root / "tare/lab/nodes/one/pods/cgroup.procs").write_text("7\n6\n")
    tree = CgroupTreeV2(lab="lab", root=v2_root)
    assert tree.processes() == {5, 6, 7}
    assert tree.processes("nodes", recursive=False) == {5}


def test_v1_uses_the_unified_hierarchy_beside_it_too() -> None:
    mounts = {"cpu": Path("/c/cpu"), "cpuset": Path("/c/cpuset")}
    tree = CgroupTreeV1(lab="lab", controllers=mounts, unified=Path("/c/unified"))
    assert tree.directories("x") == tuple(Path("/c", name, "tare/lab/x") for name in ("cpu", "cpuset", "unified"))
