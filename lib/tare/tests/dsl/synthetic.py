"""A conftest.py for the tests of the plugin: a lab whose service answers at speeds that are written down here.

Everything but the cluster, the service and the load is the real thing: store, plan, loop, verdicts.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tare import labs
from tare.errors import TareError
from tare.laboratory import Laboratory
from tare.loads import LoadResult
from tare.progress import Reporter
from tare.session import LabSession
from tare.stats.histogram import Histogram
from tare.trials.run import Bench, Side

GVISOR = float(os.environ.get("GVISOR", "0.8"))
NOISE = float(os.environ.get("NOISE", "0.01"))


class Notes(Reporter):
    """Keeps what is told in a file of that name."""

    def _render_note(self, text: str) -> None:
        with Path("notes").open("a") as notes:
            notes.write(f"{text}\n")


class Sampling:
    samples: Sequence[Any] = ()
    host_samples: Sequence[Any] = ()
    absent = ("CPU frequency (the kernel's cpufreq)",)

    def __init__(self, cgroups: Any) -> None: ...

    def __enter__(self) -> Sampling:
        return self

    def __exit__(self, *error: object) -> None: ...

    def totals(self, between: object = None) -> Mapping[str, Any]:
        return {}

    def disturbances(self, between: object) -> tuple[str, ...]:
        return ()


class Service:
    """A service and its load. In the environment FAILS_AT lets the n-th load fail, and DIES_AT kills the process."""

    name, loop, option_names = "caliper", "open", frozenset({"send_rate"})

    def __init__(self) -> None:
        self.draw = random.Random(1)
        self.loads = 0

    def deploy(self, levels: Any) -> Service:
        self.levels = levels
        return self

    def configure(self, deployment: Any, levels: Any) -> None:
        self.levels = levels

    def stop(self) -> None: ...

    def node_types(self) -> Mapping[str, Sequence[str]]:
        return {}

    def close(self) -> None: ...

    def options(self, given: Any) -> Any:
        return given

    def obstacle(self, deployment: Any) -> None: ...

    def run(self, deployment: Any, **_: Any) -> LoadResult:
        self.loads += 1
        with Path("loads").open("a") as journal:
            journal.write(f"{self.levels['runtime']}\n")
        if self.loads == int(os.environ.get("FAILS_AT", "0")):
            raise TareError("the generator could not start")
        if self.loads == int(os.environ.get("DIES_AT", "0")):
            os.kill(os.getpid(), 9)
        speed = (GVISOR if self.levels["runtime"] == "gvisor" else 1.0) * self.draw.lognormvariate(0, NOISE)
        return LoadResult(
            load="caliper",
            loop="open",
            offered_rate=50.0,
            metrics={"goodput": 50.0 * speed, "latency_mean": 0.01 / speed, "failures": 0.0},
            succeeded=10,
            failed=0,
            late=None,
            began_at=0.0,
            ended_at=1.0,
            latency=Histogram.of([0.01 / speed] * 10),
            failures={},
            generator_cpu_cores=0.1,
            client_bound=False,
        )


class Synthetic:
    """In the place of a lab on this machine."""

    def __init__(self, lab: labs.Lab, progress: Reporter) -> None:
        self.lab = lab
        self.progress = progress

    def unavailable(self, design: Any) -> Any:
        return {"runtime": {"kata": "kvm-guests: KVM runs no guest here"}}

    def against_duet(self) -> str | None:
        return None if "DUET" in os.environ else "the sides share CPU 1"

    def facts(self) -> dict[str, Any]:
        return {
            "machine": {"cpus": [0, 1], "kernel": os.environ.get("KERNEL", "6.1")},
            "node_cpus": {},
            "image_digests": {},
        }

    def bench(self, function: Any, keeper: Any, *, disturbed_above: float) -> Bench:
        services = [Service() for _ in range(2 if "DUET" in os.environ else 1)]
        return Bench(
            sides=[Side(service=each, loads={"caliper": each}) for each in services],  # type: ignore[arg-type, dict-item]
            own_loads=["caliper"],
            function=function,
            units={name: metric.unit for name, metric in self.lab.manifest.experiment.metrics.items()},
            sampler=Sampling,
            keeper=keeper,
            progress=self.progress,
        )

    def hosts(self) -> str:
        return "the lab's nodes"


def pytest_tare_laboratory(config: Any, budgets: Mapping[str, int]) -> Laboratory:
    progress = Notes()

    def write(line: str) -> None:
        with Path("journal").open("a") as journal:
            journal.write(f"{line}\n")

    @contextmanager
    def open_session(lab: str) -> Iterator[Synthetic | LabSession]:
        write("up")
        yield Synthetic(labs.load(Path(lab)), progress)
        write("down")

    return Laboratory(
        results=config.getoption("--tare-results"),
        progress=progress,
        budgets=budgets,
        seed=config.getoption("--tare-seed"),
        open_session=open_session,  # type: ignore[arg-type]
    )
