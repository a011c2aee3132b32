"""A program that writes a run and is killed: the tests of the store start it.

``killed_writer.py lines RESULTS FIRST STEP COUNT`` writes a run of its own in ``RESULTS/<n>`` for each n and kills the
writer at the n-th line of ``tare.results`` it executes; it prints a JSON object a line.
``killed_writer.py at RESULTS WHERE WHEN NTH`` does so before or after the n-th call of a function.
``killed_writer.py run RESULTS`` writes, or goes on with, a longer run until it is complete or somebody kills it.
``killed_writer.py hold RESULTS`` begins a run, commits one trial, prints the folder, and waits.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import tare.results
import tare.results.files
import tare.results.ledger
import tare.results.merge
import tare.results.store
from tare.measure.host import HostSample
from tare.measure.sampler import Sample
from tare.results import RunStore, find_unfinished
from tare.stats.histogram import Histogram
from tare.trials.plan import PlannedTrial
from tare.trials.trial import Trial

LAB = "kata-hlf"
NOW = 1706745600.0
RECORD = {
    "experiment": "killed",
    "metrics": ["goodput"],
    "units": {"goodput": "tx/s"},
    "machine": {"cpus": [0, 1], "kernel": "6.1", "memory_bytes": 1 << 33},
    "identity": {"manifest": "abc", "plan": {"seed": 7, "compare": "runtime", "baseline": "runc"}},
}
FACTORS = {"runtime": False, "send_rate": True}


def planned(count: int) -> list[PlannedTrial]:
    levels = ("runc", "gvisor")
    return [
        PlannedTrial(
            index=index, block=index // 2, deployment=index, levels={"runtime": levels[index % 2], "send_rate": 25.0}
        )
        for index in range(count)
    ]


def trial_of(one: PlannedTrial, attempt: int) -> Trial:
    """The second trial has an attempt that was set aside."""
    latencies = tuple(0.01 * (one.index + 1) + 0.001 * number for number in range(30))
    return Trial(
        index=one.index,
        block=one.block,
        deployment=one.deployment,
        levels=one.levels,
        attempt=attempt,
        set_aside=one.index == 1 and attempt == 0,
        disturbances=("someone took 30 % of the CPUs",) if one.index == 1 and attempt == 0 else (),
        began_at=NOW + one.index,
        seconds=1.5,
        metrics={"goodput": 20.0 + one.index + attempt},
        succeeded=30,
        failed=0,
        client_bound=False,
        failures={},
        notes=(),
        histograms={"caliper": Histogram.of(latencies)},
        latencies_seconds={"caliper": latencies},
        samples=(Sample(time=1.0, label="peer", cpu_seconds=1.0, memory_bytes=1, throttled_seconds=0.0),),
        host=(HostSample(time=1.0, busy_seconds=2.0, steal_seconds=0.0),),
    )


def expected(count: int) -> list[Trial]:
    return [trial_of(one, attempt) for one in planned(count) for attempt in range(2 if one.index == 1 else 1)]


def work(results: Path, count: int, pause_seconds: float = 0.0) -> Path:
    """Write a run to its end, or go on with it. What was committed is acknowledged in a file."""
    unfinished = find_unfinished(results, LAB, experiment="killed")
    if unfinished is None:
        store = RunStore.create(results, LAB, record=RECORD, factors=FACTORS, now=NOW)
    else:
        store = RunStore.resume(unfinished, record=RECORD)
    store.plan(planned(count))
    for one in planned(count):
        while one.index not in store.finished():
            attempt = store.attempts(one.index)
            store.begin(one.index, attempt)
            time.sleep(pause_seconds)
            store.commit(trial_of(one, attempt))
            with (results / "acknowledged").open("a") as file:
                file.write(f"{one.index} {attempt}\n")
    store.close(state="complete")
    return store.folder


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_line(number: int) -> None:
    """Kill this process at the n-th line that it executes in ``tare.results``."""
    folder = str(Path(tare.results.__file__).parent)
    seen = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen
        if not frame.f_code.co_filename.startswith(folder):
            return None
        if event == "line":
            seen += 1
            if seen == number:
                die()
        return trace

    sys.settrace(trace)


def at_call(where: str, when: str, nth: int) -> None:
    """Kill this process before or after the n-th call of a function, named by its module, class and name."""
    module, _, path = where.partition(":")
    owner: Any = sys.modules[module]
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    function: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def wrapped(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == nth and when == "before":
            die()
        found = function(*arguments, **named)
        if calls == nth and when == "after":
            die()
        return found

    setattr(owner, name, wrapped)


def forked(results: Path, count: int, arm: Callable[[], None]) -> bool:
    """Write a run in a child that is armed first; say whether it was killed."""
    results.mkdir(parents=True)
    pid = os.fork()
    if pid == 0:
        arm()
        try:
            work(results, count)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) != 0:
        raise SystemExit(f"the writer in {results} failed")
    return os.WIFSIGNALED(status)


def main() -> None:
    mode, results, *words = sys.argv[1:]
    if mode == "lines":
        first, step, count = map(int, words)
        for number in range(first, first + step * count, step):
            killed = forked(Path(results) / str(number), 3, lambda number=number: at_line(number))  # type: ignore[misc]
            print(json.dumps({"line": number, "killed": killed}), flush=True)
            if not killed:
                return
    elif mode == "at":
        where, when, nth = words
        print(json.dumps({"killed": forked(Path(results), 3, lambda: at_call(where, when, int(nth)))}))
    elif mode == "run":
        work(Path(results), 60, pause_seconds=0.03)
    elif mode == "hold":
        store = RunStore.create(Path(results), LAB, record=RECORD, factors=FACTORS, now=NOW)
        store.plan(planned(2))
        store.commit(trial_of(planned(2)[0], 0))
        store.begin(1, 0)
        print(store.folder, flush=True)
        sys.stdin.read()
    else:
        raise SystemExit(f"unknown mode {mode}")


if __name__ == "__main__":
    main()
