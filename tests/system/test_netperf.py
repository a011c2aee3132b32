"""netperf as it is pinned, and tcp-rr, which takes its place, between addresses of one network without a cluster."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tare import manifest
from tare.cgroup import CgroupTree, tree_of
from tare.loads import LoadResult
from tare.loads.generator import GeneratorFailed
from tare.loads.tcp_rr import TcpRoundTrip
from tare.process import Commands
from tare.services.client import Client

pytestmark = pytest.mark.system

# An address of the server alone, as a service's is: netserver does not listen at it unless it listens at every one.
ADDRESS = "198.18.0.7"


def built(name: str, variable: str) -> str:
    found = os.environ.get(variable)
    assert found, f"set {variable} to what `nix build .#{name}` links to"
    return found


@dataclass(frozen=True)
class Target:
    """What answers single bytes, as a deployment; ``network`` is where."""

    network: str
    round_trip: str
    netserver: str | None
    url: str = f"http://{ADDRESS}"

    @property
    def client(self) -> Client:
        return Client(node="client", network=self.network, path="/", keep_alive=True)

    def require_running(self) -> None:
        """What is there already is not looked after."""

    def node_types(self) -> Mapping[str, Sequence[str]]:
        return {}

    def close(self) -> None:
        """Nothing: it is not this deployment's."""


@pytest.fixture(scope="module")
def tools() -> Mapping[str, str]:
    return manifest.read(Path(built("lab-kata-hlf", "TARE_TEST_LAB")) / "lab.json").tools


@pytest.fixture(scope="module")
def cgroups() -> Iterator[CgroupTree]:
    tree = tree_of("netperf-test")
    tree.make("nodes/client")
    yield tree
    tree.kill()
    tree.remove()


@pytest.fixture
def serve(tools: Mapping[str, str]) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts a server in a network of its own that has ``ADDRESS``."""
    running: list[subprocess.Popen[bytes]] = []

    def start(server: str) -> subprocess.Popen[bytes]:
        script = f"{tools['ip']} link set lo up; {tools['ip']} address add {ADDRESS}/32 dev lo; exec {server}"
        process = subprocess.Popen([tools["unshare"], "--net", tools["busybox"], "sh", "-euc", script])
        running.append(process)
        time.sleep(0.5)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def by_netperf(serve: Callable[[str], subprocess.Popen[bytes]]) -> Callable[..., Target]:
    def start(*, data: str = ADDRESS, port: int = 12865) -> Target:
        process = serve(f"{built('netperf', 'TARE_TEST_NETPERF')}/usr/bin/netserver -D -4 -N -p 12865")
        return Target(network=f"/proc/{process.pid}/ns/net", round_trip=f"{data}:12866", netserver=f"{ADDRESS}:{port}")

    return start


@pytest.fixture
def load(tools: Mapping[str, str], cgroups: CgroupTree) -> TcpRoundTrip:
    spec = manifest.TcpRoundTrip(
        program=built("tcp-rr", "TARE_TEST_TCP_RR"),
        netperf=f"{built('netperf', 'TARE_TEST_NETPERF')}/usr/bin/netperf",
    )
    node = SimpleNamespace(cgroup="nodes/client", cpus=tuple(sorted(os.sched_getaffinity(0))))
    cluster = SimpleNamespace(nodes={"client": node}, cgroups=cgroups, manifest=SimpleNamespace(tools=tools))
    return TcpRoundTrip(cluster=cast(Any, cluster), spec=spec, commands=Commands())


def drive(load: TcpRoundTrip, target: Target, folder: Path) -> LoadResult:
    return load.run(target, options={}, warmup_seconds=1, duration_seconds=2, directory=folder / "run")


@pytest.mark.parametrize("data", [ADDRESS, "127.0.0.1"])
def test_netperf_measures(load: TcpRoundTrip, by_netperf: Callable[..., Target], tmp_path: Path, data: str) -> None:
    found = drive(load, by_netperf(data=data), tmp_path)
    assert found.notes[0].startswith("round trips by netperf 2.7.0 (TCP_RR)")
    assert found.succeeded > 1000
    assert found.ended_at - found.began_at == pytest.approx(2.0, abs=0.1)
    metrics = found.metrics
    assert metrics["round_trip_rate"] * metrics["round_trip_mean"] == pytest.approx(1)
    assert 1e-6 < metrics["round_trip_p50"] <= metrics["round_trip_p90"] <= metrics["round_trip_p99"] < 0.1
    assert 0.01 < found.generator_cpu_cores < 1.1


def test_tcp_rr_measures_the_same(
    load: TcpRoundTrip,
    by_netperf: Callable[..., Target],
    serve: Callable[[str], subprocess.Popen[bytes]],
    tmp_path: Path,
) -> None:
    by_tcp_rr = serve(f"{built('tcp-rr', 'TARE_TEST_TCP_RR')} serve :12866")
    other = Target(network=f"/proc/{by_tcp_rr.pid}/ns/net", round_trip=f"{ADDRESS}:12866", netserver=None)
    found = drive(load, other, tmp_path / "tcp-rr")
    of_netperf = drive(load, by_netperf(), tmp_path / "netperf")
    assert found.notes != of_netperf.notes
    assert found.metrics.keys() == of_netperf.metrics.keys()
    # Without a network in between, the programs' own time is most of it, and that of Go's poller is longer.
    for metric in ("round_trip_mean", "round_trip_p50"):
        assert 1 / 4 < found.metrics[metric] / of_netperf.metrics[metric] < 4


def test_nobody_to_ask_is_an_error_and_no_figure(
    load: TcpRoundTrip, by_netperf: Callable[..., Target], tmp_path: Path
) -> None:
    with pytest.raises(GeneratorFailed, match="could not establish the control connection"):
        drive(load, by_netperf(port=12867), tmp_path)


def test_a_server_that_ends_during_the_test_is_an_error_and_no_figure(
    load: TcpRoundTrip, by_netperf: Callable[..., Target], tmp_path: Path
) -> None:
    target = by_netperf()
    netserver = target.network.split("/")[2]
    kill = f"sleep 2; kill -9 $(cat /proc/{netserver}/task/{netserver}/children)"
    with subprocess.Popen(["/bin/sh", "-c", kill]), pytest.raises(GeneratorFailed, match=r"tcp_rr: "):
        drive(load, target, tmp_path)
