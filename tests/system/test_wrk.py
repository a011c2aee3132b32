"""wrk as it is pinned, on a node of the embedded cluster, against a small HTTP server on the other node."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tare import machine, manifest
from tare.cluster import Cluster, StateDirectory
from tare.loads import LoadResult
from tare.loads.generator import GeneratorFailed
from tare.loads.target import ForeignTarget
from tare.loads.wrk import NO_HANDSHAKE, Wrk
from tare.process import Commands
from tare.progress import PlainProgress

pytestmark = pytest.mark.system

LAB = "wrk-test"
PORT = 8080


@dataclass(frozen=True)
class Target:
    """A server that is there already, as a deployment."""

    url: str
    client: None = None

    def require_running(self) -> None:
        """What is there already is not looked after."""

    def node_types(self) -> Mapping[str, Sequence[str]]:
        return {}

    def close(self) -> None:
        """Nothing: it is not this deployment's."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = os.environ.get("TARE_TEST_LAB")
    assert folder, "set TARE_TEST_LAB to the folder of a lab that `nix build .#lab-kata-hlf` links to"
    state = StateDirectory(root=tmp_path_factory.mktemp("state"), lab=LAB)
    with Cluster(
        manifest=manifest.read(Path(folder) / "lab.json"),
        state=state,
        commands=Commands(),
        machine=machine.probe(),
        progress=PlainProgress(sys.stderr),
    ) as running:
        yield running


@pytest.fixture(scope="module")
def target(cluster: Cluster) -> Iterator[Target]:
    node = cluster.nodes["fabric"]
    program = Path(__file__).parent / "http_target.py"
    argv = node.argv([sys.executable, program, node.address, str(PORT)])
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        yield Target(f"http://{node.address}:{PORT}")
        process.kill()


@pytest.fixture(scope="module")
def load(cluster: Cluster) -> Wrk:
    folder = os.environ.get("TARE_TEST_WRK")
    assert folder, "set TARE_TEST_WRK to the folder that `nix build .#wrk` links to"
    spec = manifest.Wrk(
        node="client",
        threads=2,
        connections=8,
        path="/",
        keep_alive=True,
        timeout_seconds=1.0,
        program=f"{folder}/usr/bin/wrk",
        script=f"{folder}/share/wrk/report.lua",
    )
    return Wrk(cluster=cluster, spec=spec, commands=Commands())


def drive(load: Wrk, target: Target, folder: Path, seconds: float = 1, **given: object) -> LoadResult:
    return load.run(
        target, options=load.options(given), warmup_seconds=0, duration_seconds=seconds, directory=folder / "run"
    )


def test_a_server_that_serves(cluster: Cluster, load: Wrk, target: Target, tmp_path: Path) -> None:
    asked_at = time.time()
    found = load.run(
        target, options=load.options({}), warmup_seconds=1, duration_seconds=1.5, directory=tmp_path / "run"
    )
    assert (found.failed, found.failures) == (0, {})
    assert found.succeeded > 100
    assert found.latency is not None
    assert found.latency.count == found.succeeded
    assert found.metrics["throughput"] == pytest.approx(found.succeeded / (found.ended_at - found.began_at))
    # 1.5 s are rounded up; a thread looks every 0.1 s whether it is to stop.
    assert 2.0 <= found.ended_at - found.began_at < 2.5
    assert "wrk counts whole seconds: 2 s for 1.5 s" in found.notes
    assert asked_at + 1 < found.began_at < found.ended_at < time.time()
    # Eight connections that are always busy: Little's law.
    assert found.metrics["throughput"] * found.metrics["latency_mean"] == pytest.approx(8, rel=0.2)
    assert found.metrics["transfer"] > 64 * found.metrics["throughput"]
    assert 0 < found.generator_cpu_cores < 2.1
    assert {file.name for file in (tmp_path / "run").iterdir()} == {
        *("warm-up.log", "warm-up.latencies", "measured.log", "measured.latencies")
    }
    assert cluster.cgroups.processes(f"{cluster.nodes['client'].cgroup}/load") == set()


def test_without_keep_alive_every_request_has_a_connection(load: Wrk, target: Target, tmp_path: Path) -> None:
    found = drive(load, target, tmp_path, keep_alive="off")
    assert found.failed == 0
    assert found.succeeded > 20
    assert NO_HANDSHAKE in found.notes


@pytest.mark.parametrize(
    ("path", "failure"), [("/errors", "status"), ("/late", "timeout"), ("/reset", "read"), ("/noise", "read")]
)
def test_what_fails_is_counted_by_reason(load: Wrk, target: Target, tmp_path: Path, path: str, failure: str) -> None:
    found = drive(load, target, tmp_path, path=path, seconds=2)
    assert found.failures.keys() == {failure}
    assert found.failed == found.failures[failure] > 0


def test_a_server_that_never_answers_is_told(load: Wrk, target: Target, tmp_path: Path) -> None:
    found = drive(load, target, tmp_path, path="/never")
    assert (found.succeeded, found.failures, found.latency) == (0, {"unanswered": 8}, None)


def test_a_server_that_is_not_there_is_an_error_and_no_figure(load: Wrk, cluster: Cluster, tmp_path: Path) -> None:
    nobody = f"{cluster.nodes['fabric'].address}:{PORT + 1}"
    with pytest.raises(GeneratorFailed, match=rf"exit code 1 \(unable to connect to {nobody} Connection refused\)"):
        drive(load, Target(f"http://{nobody}"), tmp_path)


def test_nothing_outside_the_lab_is_loaded(load: Wrk, tmp_path: Path) -> None:
    with pytest.raises(ForeignTarget, match=r"found the address 192\.0\.2\.1"):
        drive(load, Target("http://192.0.2.1:80"), tmp_path)
    assert not (tmp_path / "run").exists()
