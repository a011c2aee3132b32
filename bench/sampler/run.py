"""What sampling costs: the CPU time of Tare's own thread while it samples cgroups, as a share of one core.

    python bench/sampler/run.py                      # 20 cgroups once a second for 20 s; needs root

The cgroups are real, each with a process in it. `--interval 0.1` takes ten times as many passes in the same time; the
share of a core is told at one pass a second in any case. Exit code 1 if it is 1 % or more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tare.cgroup import CgroupTree, tree_of
from tare.measure.sampler import Sampler

BOUND = 0.01


@contextmanager
def cgroups(count: int) -> Iterator[CgroupTree]:
    """Cgroups ``0`` to ``count - 1``, each with a process that sleeps."""
    tree = tree_of(f"bench-sampler-{os.getpid()}")
    sleepers = []
    try:
        for number in range(count):
            tree.make(f"pods/{number}")
            sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
            sleepers.append(sleeper)
            for directory in tree.directories(f"pods/{number}"):
                (directory / "cgroup.procs").write_text(str(sleeper.pid))
        yield tree
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
        tree.remove()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cgroups", type=int, default=20, metavar="N")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="how long to sample (default 20)")
    parser.add_argument("--interval", type=float, default=1.0, metavar="S", help="between two passes (default 1)")
    options = parser.parse_args()
    with cgroups(options.cgroups) as tree:
        groups = {f"pod-{number}": [f"pods/{number}"] for number in range(options.cgroups)}
        with Sampler(tree, groups, interval_seconds=options.interval) as sampler:
            time.sleep(options.seconds)
    # The passes at both ends are the caller's and not the thread's.
    costs = sampler.pass_cpu_seconds
    share = statistics.fmean(costs)  # seconds of CPU in a pass are the share of a core at one pass a second
    spread = statistics.stdev(costs)
    print(
        f"cgroups {options.cgroups} (version {tree.version}), interval {options.interval:g} s, n = {len(costs)} passes"
    )
    print(
        f"CPU of a pass: mean {share * 1e3:.2f} ms, deviation {spread * 1e3:.2f} ms, largest {max(costs) * 1e3:.2f} ms"
    )
    print(f"at one pass a second: {share:.2%} of a core ({'under' if share < BOUND else 'NOT under'} {BOUND:.0%})")
    print(f"absent here: {'; '.join(sampler.absent) or 'nothing'}")
    return 0 if share < BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
