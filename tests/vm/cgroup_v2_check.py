"""Each promise of tare.cgroup on a real version 2 kernel, a line each; run inside tests/vm/cgroup-v2's machine."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tare.cgroup import CgroupError, CgroupTree, tree_of
from tare.cgroup.v2 import weight

ROOT = Path("/sys/fs/cgroup")
BUSY = "while True: pass"
FORKING = "import os, time\nwhile not os.fork():\n    time.sleep(0.02)\ntime.sleep(600)"  # a child of a child of ...
HOLDING = "import time\nheld = bytearray(64 << 20)\nheld[::4096] = bytes([1]) * (len(held) // 4096)\ntime.sleep(600)"

tree = tree_of("check")
started: list[subprocess.Popen[bytes]] = []


def start(path: str, program: str) -> subprocess.Popen[bytes]:
    """Start a Python program inside a cgroup."""
    (directory,) = tree.directories(path)  # version 2 has one hierarchy
    enter = f"import os, pathlib\npathlib.Path({str(directory / 'cgroup.procs')!r}).write_text(str(os.getpid()))\n"
    process = subprocess.Popen([sys.executable, "-B", "-c", enter + program])
    started.append(process)
    deadline = time.monotonic() + 30
    while process.pid not in tree.processes(path):
        assert process.poll() is None, "the program has ended"
        assert time.monotonic() < deadline, "the program does not reach its cgroup"
        time.sleep(0.05)
    return process


def rates(*paths: str, seconds: float) -> list[float]:
    """Return the CPU seconds per second each cgroup uses over a while."""
    began, before = time.monotonic(), [tree.usage(path).cpu_seconds for path in paths]
    time.sleep(seconds)
    used = [tree.usage(path).cpu_seconds - start for path, start in zip(paths, before, strict=True)]
    return [each / (time.monotonic() - began) for each in used]


@contextlib.contextmanager
def refused(*words: str) -> Iterator[list[str]]:
    """Expect a CgroupError that says ``words``; the list gets what it said."""
    said: list[str] = []
    try:
        yield said
    except CgroupError as error:
        said.append(str(error))
    assert said, "nothing was refused"
    assert all(word in said[0] for word in words), said[0]


def detect() -> str:
    assert tree.version == 2, tree.version
    assert tree.directories("a") == (ROOT / "tare/check/a",), tree.directories("a")
    assert not tree.exists()
    return f"{type(tree).__name__}, Linux {platform.release()}"


def make_with_cpus_and_shares() -> str:
    tree.make("nodes/one", cpus=(1,), cpu_shares=512)
    tree.make("nodes/one", cpus=(1,), cpu_shares=512)  # again: no change, no error
    directory = tree.directories("nodes/one")[0]
    read = {name: (directory / name).read_text().strip() for name in ("cpuset.cpus.effective", "cpu.weight")}
    assert read == {"cpuset.cpus.effective": "1", "cpu.weight": str(weight(512))}, read
    passed_on = (directory.parent / "cgroup.subtree_control").read_text().split()
    assert {"cpu", "cpuset", "memory", "pids"} <= set(passed_on), passed_on
    return f"{read}, passed on: {' '.join(passed_on)}"


def attach() -> str:
    process = start("nodes/one", BUSY)
    assert os.sched_getaffinity(process.pid) == {1}, os.sched_getaffinity(process.pid)
    assert tree.processes() == tree.processes("nodes") == {process.pid}
    assert tree.processes("nodes", recursive=False) == set()
    assert Path(f"/proc/{process.pid}/cgroup").read_text() == f"0::{tree.kernel_path('nodes/one')}\n"
    return "the busy process is listed where it stands and above, and runs on CPU 1 only"


def usage_grows() -> str:
    (rate,) = rates("nodes/one", seconds=4)
    assert rate > 0.6, rate
    assert tree.usage("nodes/one").throttled_seconds == 0
    return f"{rate:.3f} CPU without a quota, throttled 0 s"


def quota_holds() -> str:
    tree.set_cpu_quota("nodes/one", 0.25)
    time.sleep(0.5)
    before = tree.usage("nodes/one")
    (rate,) = rates("nodes/one", seconds=8)
    after = tree.usage("nodes/one")
    throttled = after.throttled_seconds - before.throttled_seconds
    periods, kept = after.periods - before.periods, after.throttled_periods - before.throttled_periods
    assert 0.15 < rate < 0.35, rate
    assert throttled > 3, throttled
    assert 40 < kept <= periods < 100, (kept, periods)  # a period is 0.1 s
    return f"{rate:.3f} CPU under a quota of 0.25, throttled {throttled:.2f} s in 8 s, {kept} of {periods} periods"


def pressure_is_told() -> str:
    usage = tree.usage("nodes/one")
    # The busy process waits for its quota; with nothing on this machine but one process, for nothing else.
    assert usage.pressure_cpu_seconds is not None and usage.pressure_cpu_seconds > 3, usage
    assert usage.pressure_memory_seconds is not None and usage.pressure_memory_seconds < 1, usage
    assert usage.pressure_io_seconds is not None, usage
    return f"it has waited {usage.pressure_cpu_seconds:.2f} s for a CPU"


def quota_of_the_parent_holds() -> str:
    tree.set_cpu_quota("nodes/one", 0.5)
    tree.set_cpu_quota("nodes", 0.25)  # below its child's, which version 1 refuses
    time.sleep(0.5)
    (rate,) = rates("nodes/one", seconds=8)
    assert 0.15 < rate < 0.35, rate
    return f"{rate:.3f} CPU under 0.5 inside 0.25"


def quota_is_lifted() -> str:
    tree.set_cpu_quota("nodes", None)
    tree.set_cpu_quota("nodes/one", None)
    time.sleep(0.5)
    before = tree.usage("nodes/one").throttled_seconds
    (rate,) = rates("nodes/one", seconds=4)
    assert rate > 0.6, rate
    assert tree.usage("nodes/one").throttled_seconds == before
    return f"{rate:.3f} CPU, throttled no longer"


def shares_divide_a_cpu() -> str:
    tree.make("shares/large", cpus=(0,), cpu_shares=4096)
    tree.make("shares/small", cpus=(0,), cpu_shares=1024)
    start("shares/large", BUSY)
    start("shares/small", BUSY)
    time.sleep(1)
    large, small = rates("shares/large", "shares/small", seconds=8)
    wanted = weight(4096) / weight(1024)
    assert 0.7 * wanted < large / small < 1.3 * wanted, (large, small)
    tree.kill("shares")
    return f"{large:.3f} and {small:.3f} CPU: {large / small:.2f} to 1, wanted {wanted:.2f} to 1"


def memory() -> str:
    tree.make("memory")
    start("memory", HOLDING)
    deadline = time.monotonic() + 30
    while (held := tree.usage("memory").memory_bytes) < 64 << 20 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert 64 << 20 <= held < 96 << 20, held
    tree.kill("memory")
    return f"{held / (1 << 20):.1f} MiB for a process that holds 64 MiB"


def kill() -> str:
    tree.kill("nodes")
    assert tree.processes("nodes") == set()
    return "the busy process is dead"


def kill_what_forks() -> str:
    tree.make("forking/inner")
    start("forking/inner", FORKING)
    time.sleep(1)
    count = len(tree.processes("forking"))
    assert count > 3, count
    tree.kill("forking")
    assert tree.processes("forking") == set()
    return f"{count} processes, the last of which keeps forking, are dead"


def kill_the_frozen() -> str:
    tree.make("frozen")
    start("frozen", BUSY)
    (tree.directories("frozen")[0] / "cgroup.freeze").write_text("1")
    tree.kill("frozen")
    return "a frozen process is dead"


def kill_without_the_switch() -> str:
    tree.make("older")
    start("older", BUSY)
    CgroupTree._kill_once(tree, "older", tree.processes("older"))  # what a kernel before 5.14 gets
    deadline = time.monotonic() + 5
    while tree.processes("older"):
        assert time.monotonic() < deadline, tree.processes("older")
        time.sleep(0.02)
    return "a process is dead by its pid"


def threaded_cgroups() -> str:
    tree.make("threaded")
    inner = tree.directories("threaded/inner")[0]
    inner.mkdir()  # not by make, which passes the memory controller on: that and threads exclude each other
    (inner / "cgroup.type").write_text("threaded")
    process = start("threaded", BUSY)
    assert tree.processes("threaded") == {process.pid}
    tree.kill("threaded")
    tree.remove("threaded")
    return "processes above a threaded cgroup are listed, dead and gone"


def wrong_cpus_are_refused() -> str:
    with refused("cpuset.cpus", "4096") as far:
        tree.make("wrong", cpus=(4096,))
    with refused("cpuset.cpus", "3") as absent:
        tree.make("wrong", cpus=(3,))
    with refused("cpuset.cpus", "0") as outside:
        tree.make("nodes/one/inner", cpus=(0, 1))
    return "; ".join((*far, *absent, *outside))


def a_cgroup_with_processes_passes_nothing_on() -> str:
    tree.make("occupied")
    start("occupied", BUSY)
    with refused("processes stand in it") as said:
        tree.make("occupied/inner")
    return said[0]


def remove_waits_for_processes() -> str:
    with refused("cannot be removed") as said:
        tree.remove("occupied", deadline_seconds=0.3)
    return said[0]


def remove() -> str:
    tree.kill()
    tree.remove()
    tree.remove()
    assert not tree.exists()
    assert not (ROOT / "tare").exists()
    try:
        tree.usage("nodes/one")
    except OSError as error:
        return f"all is gone, twice; a reading raises {type(error).__name__}"
    raise AssertionError("a cgroup that is gone was read")


STEPS: tuple[Callable[[], str], ...] = (
    detect,
    make_with_cpus_and_shares,
    attach,
    usage_grows,
    quota_holds,
    pressure_is_told,
    quota_of_the_parent_holds,
    quota_is_lifted,
    shares_divide_a_cpu,
    memory,
    kill,
    kill_what_forks,
    kill_the_frozen,
    kill_without_the_switch,
    threaded_cgroups,
    wrong_cpus_are_refused,
    a_cgroup_with_processes_passes_nothing_on,
    remove_waits_for_processes,
    remove,
)


def main() -> int:
    failed = 0
    for step in STEPS:
        name = step.__name__.replace("_", " ")
        try:
            print(f"PASS {name}: {step()}", flush=True)
        except (AssertionError, CgroupError, OSError) as error:
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
    for process in started:
        process.kill()
        process.wait()
    outcome = f"{failed} of {len(STEPS)} steps failed" if failed else f"all {len(STEPS)} steps passed"
    print(f"cgroup v2: {outcome}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
