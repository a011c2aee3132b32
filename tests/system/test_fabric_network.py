"""A Fabric network on the embedded cluster: deployed, loaded for seconds by the real Caliper, broken, removed."""

from __future__ import annotations

import dataclasses
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare import machine, manifest
from tare.cluster import Cluster, StateDirectory
from tare.loads import caliper
from tare.loads.caliper import Caliper
from tare.manifest import Manifest
from tare.measure.sampler import Sampler
from tare.process import Commands
from tare.progress import PlainProgress
from tare.services.fabric import FabricDeployment, FabricService, MemberEnded

pytestmark = pytest.mark.system

LAB = "fabric-test"


@pytest.fixture(scope="module")
def lab() -> Manifest:
    """The lab kata-hlf as Nix built it; the variable says where it is."""
    folder = os.environ.get("TARE_TEST_LAB")
    assert folder, "set TARE_TEST_LAB to the folder that `nix build --print-out-paths .#lab-kata-hlf` prints"
    read = manifest.read(Path(folder) / "lab.json")
    fabric = read.services.fabric
    assert fabric is not None
    quick = dataclasses.replace(fabric, batch_timeout_seconds=0.5)
    return dataclasses.replace(read, services=dataclasses.replace(read.services, fabric=quick))


@pytest.fixture(scope="module")
def cluster(lab: Manifest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    state = StateDirectory(root=tmp_path_factory.mktemp("state"), lab=LAB)
    with Cluster(
        manifest=lab, state=state, commands=Commands(), machine=machine.probe(), progress=PlainProgress(sys.stderr)
    ) as running:
        yield running


@pytest.fixture
def service(lab: Manifest, cluster: Cluster, tmp_path: Path) -> FabricService:
    spec = lab.services.fabric
    assert spec is not None
    return FabricService(
        cluster=cluster,
        spec=spec,
        directory=tmp_path / "fabric",
        commands=Commands(),
        progress=PlainProgress(sys.stderr),
    )


@pytest.fixture
def deployment(service: FabricService) -> Iterator[FabricDeployment]:
    deployed = service.deploy({"runtime": "runc", "vcpus": "shared"})
    yield deployed
    deployed.close()


def test_a_short_run(
    lab: Manifest, cluster: Cluster, service: FabricService, deployment: FabricDeployment, tmp_path: Path
) -> None:
    assert {name: len(paths) for name, paths in deployment.node_types().items()} == {
        "orderer": 1,
        "peer": 2,
        "chaincode": 2,
        "ca": 2,
    }
    open_to_others = [
        path
        for path in (tmp_path / "fabric").rglob("*key*")
        if path.is_file() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    assert open_to_others == []

    service.configure(deployment, {"total_cpus": 0.5})
    spec = lab.loads.caliper
    assert spec is not None
    load = Caliper(cluster=cluster, spec=spec, commands=Commands())
    with Sampler(cluster.cgroups, deployment.node_types()) as sampler:
        result = load.run(
            deployment,
            options=load.options({"send_rate": 20}),
            warmup_seconds=1,
            duration_seconds=4,
            directory=tmp_path / "run",
        )
    assert result.failed == 0
    assert result.succeeded == pytest.approx(80, abs=2)
    assert result.metrics["sent_rate"] == pytest.approx(20, rel=0.05)
    assert 0 < result.metrics["goodput"] <= result.metrics["sent_rate"]
    uneven = caliper.uneven(result.late or 0, result.succeeded)
    assert result.notes == uneven, "Caliper's own table and the raw samples disagree, or the client was the bottleneck"
    assert 0 < min(result.latencies_seconds) < max(result.latencies_seconds) < 4
    assert result.latency is not None
    assert result.latency.count == result.succeeded
    assert len(result.completed_per_second) in (3, 4)
    usage = sampler.totals((result.began_at, result.ended_at))
    assert all(used.cpu_seconds > 0 for name, used in usage.items() if name != "ca")
    assert sum(used.cpu_cores for used in usage.values()) < 0.6
    assert result.generator_cpu_cores > 0

    deployment.close()
    assert cluster.kubectl("get", "pods", "--output=name") == ""
    assert list((tmp_path / "fabric").iterdir()) == []


def test_a_container_that_ended_is_told(cluster: Cluster, deployment: FabricDeployment) -> None:
    deployment.require_running()
    (orderer,) = deployment.node_types()["orderer"]
    (pid,) = (
        pid for pid in cluster.cgroups.processes(orderer) if Path(f"/proc/{pid}/comm").read_text().strip() == "orderer"
    )
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(MemberEnded, match=r"orderer-1 ended with exit code 137"):
        for _ in range(100):
            deployment.require_running()
            time.sleep(0.1)
