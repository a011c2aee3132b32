"""Round trips of single bytes by either program. Processes are real; what they print was recorded of the real ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tare.cgroup import CgroupUsage
from tare.errors import UsageError
from tare.loads import LoadResult
from tare.loads.generator import GeneratorFailed
from tare.loads.netperf_output import SELECTORS
from tare.loads.target import ForeignTarget
from tare.loads.tcp_rr import BY_TCP_RR, TcpRoundTrip, arguments
from tare.manifest import TcpRoundTrip as TcpRoundTripSpec
from tare.process import Commands
from tare.services.client import Client

DATA = Path(__file__).parents[1] / "data"
SERVICE = "198.19.64.7"


class Cgroups:
    """Cgroups of no kernel; their CPU time stands still."""

    def make(self, path: str, *, cpus: tuple[int, ...]) -> None: ...

    def entering(self, path: str, shell: Sequence[str], argv: Sequence[str]) -> list[str]:
        return [*argv]

    def kill(self, path: str) -> None: ...

    def processes(self, path: str) -> set[int]:
        return set()

    def usage(self, path: str) -> CgroupUsage:
        return CgroupUsage(cpu_seconds=1.0, memory_bytes=0, throttled_seconds=0.0, periods=0, throttled_periods=0)


class Target:
    """A deployment as a load sees it."""

    url = f"http://{SERVICE}:8081"
    client = Client(node="client", network="/proc/7/ns/net", path="/64", keep_alive=True)

    def __init__(self, *, round_trip: str | None = f"{SERVICE}:12866", netserver: str | None = None) -> None:
        self.round_trip = round_trip
        self.netserver = netserver
        self.looked_after = 0

    def require_running(self) -> None:
        self.looked_after += 1

    def node_types(self) -> dict[str, Sequence[str]]:
        return {}

    def close(self) -> None: ...


def program(file: Path, script: str) -> str:
    """Return a program that writes down how it was called."""
    file.write_text(f'#!/bin/sh\necho "$@" >> {file}.calls\n{script}\n')
    file.chmod(0o755)
    return str(file)


def calls(file: Path) -> list[str]:
    return Path(f"{file}.calls").read_text().splitlines()


def prints(name: str, code: int = 0) -> str:
    return f"cat {DATA / name}; exit {code}"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., TcpRoundTrip]:
    """Makes the load of a lab whose netperf and tcp-rr are these scripts."""

    def make(*, netperf: str | None = None, tcp_rr: str = "exit 9") -> TcpRoundTrip:
        nsenter = program(tmp_path / "nsenter", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
        version = 'if [ "$1" = -V ]; then echo "Netperf version 2.7.0"; exit; fi\n'
        spec = TcpRoundTripSpec(
            program=program(tmp_path / "tcp-rr", tcp_rr),
            netperf=None if netperf is None else program(tmp_path / "netperf", version + netperf),
        )
        cluster = SimpleNamespace(
            nodes={"client": SimpleNamespace(cgroup="nodes/client", cpus=(1,))},
            cgroups=Cgroups(),
            manifest=SimpleNamespace(tools={"busybox": "/bin/busybox", "nsenter": nsenter}),
        )
        commands = Commands({"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        return TcpRoundTrip(cluster=cast(Any, cluster), spec=spec, commands=commands)

    return make


def drive(
    load: TcpRoundTrip, target: Target, folder: Path, *, warmup: float = 1.0, duration: float = 1.0
) -> LoadResult:
    return load.run(target, options={}, warmup_seconds=warmup, duration_seconds=duration, directory=folder / "results")


def test_netperf_measures_where_it_answers(load: Callable[..., TcpRoundTrip], tmp_path: Path) -> None:
    target = Target(netserver=f"{SERVICE}:12865")
    found = drive(load(netperf=prints("netperf/round-trips.log")), target, tmp_path)
    (note,) = found.notes
    assert note.startswith("round trips by netperf 2.7.0 (TCP_RR)")
    assert (found.load, found.succeeded, found.failed, found.latency) == ("tcp_rr", 35876, 0, None)
    assert found.metrics == {
        "round_trip_rate": pytest.approx(35869.902),
        "round_trip_mean": pytest.approx(1 / 35869.902),
        "round_trip_p50": 13e-6,
        "round_trip_p90": 51e-6,
        "round_trip_p99": 82e-6,
        "round_trip_client_cpu": 0.0,
    }
    assert found.ended_at - found.began_at == pytest.approx(1.0, abs=0.001)
    assert found.raw_files == (tmp_path / "results" / "round-trips.log",)
    assert target.looked_after == 1
    assert calls(tmp_path / "nsenter")[0].startswith("--net=/proc/7/ns/net -- ")


def test_netperf_is_warmed_up_by_a_test_and_counts_whole_seconds(
    load: Callable[..., TcpRoundTrip], tmp_path: Path
) -> None:
    cut = prints("netperf/round-trips.log")  # of 1 s, where 2 s are asked for
    with pytest.raises(GeneratorFailed, match=r"netperf's connection was lost after 1\.00 s of 2 s; its output is in"):
        drive(load(netperf=cut), Target(netserver=f"{SERVICE}:12865"), tmp_path, warmup=0.8, duration=1.2)
    version, warmup, measured = calls(tmp_path / "netperf")
    assert version == "-V"
    assert " -t TCP_RR -l 1 -j " in warmup
    assert " -t TCP_RR -l 2 -j " in measured


@pytest.mark.parametrize("warmup", [0.0, 0.5])
def test_without_a_warm_up_there_is_one_test(load: Callable[..., TcpRoundTrip], tmp_path: Path, warmup: float) -> None:
    made = load(netperf=prints("netperf/round-trips.log"))
    drive(made, Target(netserver=f"{SERVICE}:12865"), tmp_path, warmup=warmup)
    assert len(calls(tmp_path / "netperf")) == 2


@pytest.mark.parametrize(
    ("name", "code", "problem"),
    [
        ("nobody.log", 255, "could not establish the control connection"),
        ("no-way-for-data.log", 1, "connect_data_socket failed: Connection refused"),
    ],
)
def test_netperf_that_fails_is_an_error_and_no_figure(
    load: Callable[..., TcpRoundTrip], tmp_path: Path, name: str, code: int, problem: str
) -> None:
    made = load(netperf=prints(f"netperf/{name}", code))
    with pytest.raises(GeneratorFailed, match=rf"tcp_rr: ended with exit code {code} \(.*{problem}"):
        drive(made, Target(netserver=f"{SERVICE}:12865"), tmp_path)


def test_a_connection_that_is_cut_is_an_error_though_netperf_has_figures(
    load: Callable[..., TcpRoundTrip], tmp_path: Path
) -> None:
    made = load(netperf=prints("netperf/connection-cut.log"))
    with pytest.raises(GeneratorFailed, match=r"netperf's connection was lost after 0\.82 s of 1 s"):
        drive(made, Target(netserver=f"{SERVICE}:12865"), tmp_path)


def test_tcp_rr_takes_the_place_of_netperf(load: Callable[..., TcpRoundTrip], tmp_path: Path) -> None:
    found = drive(load(tcp_rr=prints("tcp_rr/round-trips.json")), Target(), tmp_path, duration=0.2)
    assert found.notes == (BY_TCP_RR,)
    recorded = json.loads((DATA / "tcp_rr" / "round-trips.json").read_text())
    assert found.succeeded == recorded["transactions"]
    assert found.latency is not None
    assert found.latency.count == found.succeeded
    metrics = found.metrics
    assert metrics["round_trip_mean"] == pytest.approx(recorded["seconds"] / recorded["transactions"])
    assert 0 < metrics["round_trip_p50"] < metrics["round_trip_p90"] < metrics["round_trip_p99"] < 1
    assert calls(tmp_path / "tcp-rr") == [f"call {SERVICE}:12866 1000ms 200ms"]


def test_both_give_the_same_metrics(load: Callable[..., TcpRoundTrip], tmp_path: Path) -> None:
    made = load(netperf=prints("netperf/round-trips.log"), tcp_rr=prints("tcp_rr/round-trips.json"))
    by_netperf = drive(made, Target(netserver=f"{SERVICE}:12865"), tmp_path)
    by_tcp_rr = drive(made, Target(), tmp_path)
    assert by_netperf.metrics.keys() == by_tcp_rr.metrics.keys()


def test_netperf_that_the_lab_does_not_have(load: Callable[..., TcpRoundTrip], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"netperf answers here, and the lab has no program for it: loads\.tcpRr\.net"):
        drive(load(), Target(netserver=f"{SERVICE}:12865"), tmp_path)


def test_where_bytes_are_not_forwarded(load: Callable[..., TcpRoundTrip], tmp_path: Path) -> None:
    assert "single bytes are not forwarded here" in str(load().obstacle(Target(round_trip=None)))
    assert load().obstacle(Target()) is None
    with pytest.raises(UsageError, match="single bytes are not forwarded here"):
        drive(load(), Target(round_trip=None), tmp_path)


@pytest.mark.parametrize("target", [Target(round_trip="192.0.2.1:1"), Target(netserver="192.0.2.1:1")])
def test_nothing_outside_the_lab_is_called(load: Callable[..., TcpRoundTrip], tmp_path: Path, target: Target) -> None:
    with pytest.raises(ForeignTarget, match=r"found the address 192\.0\.2\.1"):
        drive(load(netperf="exit 0"), target, tmp_path)
    assert not (tmp_path / "netperf.calls").exists()


def test_data_go_through_a_proxy_and_what_is_asked_for_does_not() -> None:
    tail = f"-P ,12866 -r 1,1 -k {','.join(SELECTORS)}"
    assert " ".join(arguments("netperf", f"{SERVICE}:12865", "127.0.0.1:12866", 2)) == (
        f"netperf -4 -H {SERVICE} -p 12865 -t TCP_RR -l 2 -j -P 0 -- -H 127.0.0.1 {tail}"
    )
    # Not named, the address at which netperf's server listens is every one it has; it has not that of a service.
    assert " ".join(arguments("netperf", f"{SERVICE}:12865", f"{SERVICE}:12866", 2)) == (
        f"netperf -4 -H {SERVICE} -p 12865 -t TCP_RR -l 2 -j -P 0 -- {tail}"
    )
