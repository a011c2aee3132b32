"""What several tests need: a lab's manifest as Nix wrote it, a plan for it, and trials that look measured."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tare import manifest
from tare.measure.host import HostSample
from tare.measure.sampler import Sample
from tare.stats.histogram import Histogram
from tare.trials.design import settle
from tare.trials.plan import Plan, PlannedTrial, make
from tare.trials.trial import Trial

# How long an example takes says more of the machine than of the code.
settings.register_profile("tare", deadline=None)
settings.load_profile("tare")

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def lab_folder() -> Path:
    return DATA / "labs" / "kata-hlf"


@pytest.fixture(scope="session")
def kata_hlf(lab_folder: Path) -> manifest.Manifest:
    return manifest.read(lab_folder / "lab.json")


@pytest.fixture
def debian_archive(tmp_path: Path) -> Callable[[dict[str, list[str]]], Path]:
    """Makes an archive of Debian's form from the names of packages by component; each is a file of its own name."""

    def make(components: dict[str, list[str]]) -> Path:
        archive = tmp_path / "archive"
        release = ["Suite: bookworm", "Codename: bookworm", "Architectures: amd64"]
        release += [f"Components: {' '.join(components)}", "SHA256:"]
        for component, names in components.items():
            index = archive / "dists" / "bookworm" / component / "binary-amd64" / "Packages"
            index.parent.mkdir(parents=True)
            entries = []
            for name in names:
                file = archive / "pool" / component / f"{name}_1_amd64.deb"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(name)
                entries.append(
                    f"Package: {name}\nVersion: 1\nArchitecture: amd64\nFilename: {file.relative_to(archive)}\n"
                    f"Size: {len(name)}\nSHA256: {hashlib.sha256(name.encode()).hexdigest()}\n"
                )
            index.write_text("\n".join(entries))
            checksum, length = hashlib.sha256(index.read_bytes()).hexdigest(), index.stat().st_size
            release.append(f" {checksum} {length} {component}/binary-amd64/Packages")
        (archive / "dists" / "bookworm" / "Release").write_text("\n".join(release) + "\n")
        return archive

    return make


@pytest.fixture(scope="session")
def plan(kata_hlf: manifest.Manifest) -> Plan:
    unavailable = {"runtime": {"kata": "kvm-guests: KVM runs no guest here"}}
    return make(settle(kata_hlf.experiment), seed=7, unavailable=unavailable)


@pytest.fixture(scope="session")
def trials(plan: Plan) -> tuple[Trial, ...]:
    return tuple(measured(trial) for trial in plan.trials())


@pytest.fixture(scope="session")
def measure() -> Callable[[PlannedTrial], Trial]:
    """Makes a planned trial one that looks measured."""
    return measured


def measured(planned: PlannedTrial) -> Trial:
    """Return a trial as if measured: gVisor at nine tenths of runc, and a client that is bound at 100 tx/s."""
    draw = random.Random(planned.index)
    rate = float(planned.levels["send_rate"])
    factor = (0.9 if planned.levels["runtime"] == "gvisor" else 1.0) * draw.uniform(0.98, 1.02)
    latencies = tuple(draw.uniform(0.1, 0.4) / factor for _ in range(20))
    return Trial(
        index=planned.index,
        block=planned.block,
        deployment=planned.deployment,
        levels=planned.levels,
        began_at=1706745600.0 + planned.index,
        seconds=21.5,
        metrics={
            "sent_rate": rate,
            "goodput": rate * factor,
            "failures": 0.02,
            "latency_mean": sum(latencies) / len(latencies),
            "latency_p99": max(latencies),
            "cpu_per_request": 0.01 / factor,
            "cpu_peer": 0.3,
            "memory_peer": 120e6,
            "client_cpu": 0.5,
        },
        succeeded=49,
        failed=1,
        client_bound=rate == 100.0,
        failures={"MVCC_READ_CONFLICT": 1},
        notes=("stock signing in JavaScript",),
        late=0,
        aa=planned.aa,
        pair=planned.pair,
        side=planned.side,
        histograms={"caliper": Histogram.of(latencies)},
        latencies_seconds={"caliper": latencies},
        samples=(
            Sample(time=1.0, label="peer", cpu_seconds=0.1, memory_bytes=1 << 20, throttled_seconds=0.0),
            Sample(time=2.0, label="peer", cpu_seconds=0.4, memory_bytes=1 << 20, throttled_seconds=0.1),
        ),
        host=(HostSample(time=1.0, busy_seconds=10.0, steal_seconds=0.0, pressure_cpu_seconds=0.5),),
    )
