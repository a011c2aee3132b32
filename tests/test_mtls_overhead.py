"""What mutual TLS costs in service meshes, against labs/mtls/paper.toml, and what of it is encryption.

The study compared "no mesh" with "mesh", and so took the proxies' cost for that of mutual TLS. Here the cost is taken
apart: cost = hop (two proxies that forward bytes) x layer (HTTP instead of bytes) x encryption.

The budgets are those of a machine with two CPUs, one for the server's node and one for the client's: load, server and
proxies share them, so that ratios to no mesh are far deeper than the study's, on eight CPUs or more.
"""

from __future__ import annotations

import itertools
import os
import ssl
import tomllib
from pathlib import Path

import pytest

from tare import ExperimentRun, Factor, Trial, experiment

STUDY = tomllib.loads((Path(__file__).parent.parent / "labs" / "mtls" / "paper.toml").read_text())
PRINTED = {result["mesh"]: result for result in STUDY["result"]}

ARMS = [
    "none",
    "plain-proxy-l4",
    "plain-proxy-l7",
    "istio-l4-mtls",
    "istio-l7",
    "istio-l7-mtls",
    "kuma-l4-mtls",
    "kuma-l7",
    "kuma-l7-mtls",
    "consul-l4-mtls",
    "consul-l7-mtls",
    "linkerd-l4-mtls",
    "linkerd-l7-mtls",
]
ENCRYPTED = ["istio-l4-mtls", "istio-l7-mtls", "kuma-l4-mtls", "kuma-l7-mtls", "consul-l4-mtls", "consul-l7-mtls"]
PLAIN = ["plain-proxy-l4", "plain-proxy-l7", "istio-l4", "istio-l7", "kuma-l4", "kuma-l7"]
# Whose certificate it is: a trust domain, and the account or the service of the server.
IDENTITY = {
    "istio": "spiffe://cluster.local/ns/http/sa/server",
    "kuma": "spiffe://encrypted/",
    "consul": "spiffe://",
}

# How the arms' names begin, in the study's order of throughput, which is that of latency too.
ORDER = [mesh for mesh in STUDY["claims"]["throughput_order_best_first"] if mesh != "none"]

meshes = pytest.mark.parametrize("mesh", ORDER)
neighbours = pytest.mark.parametrize(("better", "worse"), list(itertools.pairwise(ORDER)))
of_the_studys_machine = pytest.mark.skipif(
    (os.cpu_count() or 1) < 8,
    reason="the study's ratios are those of eight CPUs or more; here load, server and proxies share fewer",
)
# Which order holds depends on how many CPUs there are: on fewer it is judged and told, and need not hold.
claimed_of_eight_cpus = pytest.mark.xfail(
    (os.cpu_count() or 1) < 8, reason="the study's order is that of eight CPUs or more", strict=False
)
# Both ways, so that encryption alone differs.
both_ways = pytest.mark.parametrize("mesh", ["istio", "kuma"])


@experiment(
    lab="mtls",
    factor=Factor("arm", baseline="none", levels=ARMS),
    across=[
        Factor("load_share", levels=[0.5]),
        Factor("payload_bytes", levels=[64]),
        Factor("connection", levels=["keep-alive"]),
        Factor("connections", levels=[8]),
    ],
    # With its budgets no verdict is possible before block 10; a block takes little more than two minutes.
    blocks=(10, 10),
    interval="t",
    warmup="0.5 s",
    duration="1 s",
)
def mtls(trial: Trial) -> None:
    """As many requests as eight connections carry; single bytes; requests at half of what the arm can serve."""
    trial.loads()


# The proof, before anything is measured.


@pytest.mark.proof
@pytest.mark.parametrize("arm", ENCRYPTED)
def test_on_the_wire_there_is_tls_1_3_and_no_stranger_is_served(mtls: ExperimentRun, arm: str) -> None:
    with mtls.lab.deployed(arm=arm, payload_bytes=1024) as deployment:
        seen = deployment.wire()
        assert seen.readable == 0
        assert seen.encrypted > 0
        (port,) = seen.ports
        if seen.versions:
            assert seen.versions == {"TLS 1.3"}
        else:  # one connection carries all requests at once (HTTP/2), and was there before
            of_tls_1_2 = deployment.without_certificate(port, highest=ssl.TLSVersion.TLSv1_2)
            assert "PROTOCOL_VERSION" in str(of_tls_1_2.refusal)
        assert deployment.plain_request(port) is not None
        welcome = deployment.without_certificate(port)
        assert welcome.refusal is not None
        assert any(name.startswith(IDENTITY[arm.partition("-")[0]]) for name in welcome.names)


@pytest.mark.proof
@pytest.mark.parametrize("arm", PLAIN)
def test_without_mutual_tls_everything_is_readable(mtls: ExperimentRun, arm: str) -> None:
    with mtls.lab.deployed(arm=arm, payload_bytes=1024) as deployment:
        seen = deployment.wire()
        assert seen.readable > 0
        assert seen.encrypted == 0
        assert seen.versions == frozenset()
        (port,) = seen.ports
        assert deployment.plain_request(port) is None
        assert deployment.without_certificate(port).refusal is not None


# The study's claims.


@of_the_studys_machine
@meshes
def test_throughput_is_at_least_the_studys(mtls: ExperimentRun, mesh: str) -> None:
    bound = 0.9 * PRINTED[mesh]["throughput_rps"] / PRINTED["none"]["throughput_rps"]
    assert mtls.throughput(arm=f"{mesh}-l7-mtls") / mtls.throughput(arm="none") >= bound


@of_the_studys_machine
@meshes
def test_a_round_trip_is_at_most_the_studys(mtls: ExperimentRun, mesh: str) -> None:
    bound = 1.1 * PRINTED[mesh]["latency_us"] / PRINTED["none"]["latency_us"]
    assert mtls.round_trip_mean(arm=f"{mesh}-l4-mtls") / mtls.round_trip_mean(arm="none") <= bound


@claimed_of_eight_cpus
@neighbours
def test_throughput_is_in_the_studys_order(mtls: ExperimentRun, better: str, worse: str) -> None:
    assert mtls.throughput(arm=f"{better}-l7-mtls") > mtls.throughput(arm=f"{worse}-l7-mtls")


@claimed_of_eight_cpus
@neighbours
def test_round_trips_are_in_the_studys_order(mtls: ExperimentRun, better: str, worse: str) -> None:
    assert mtls.round_trip_mean(arm=f"{better}-l4-mtls") < mtls.round_trip_mean(arm=f"{worse}-l4-mtls")


# Our own: whose cost it is. Of machines with two CPUs, where the noise floor allows no closer bounds within the time.


def test_the_hop_through_two_proxies_keeps_a_quarter_of_the_throughput(mtls: ExperimentRun) -> None:
    assert mtls.throughput(arm="plain-proxy-l4") / mtls.throughput(arm="none") >= 0.25


def test_http_costs_more_than_bytes(mtls: ExperimentRun) -> None:
    assert mtls.throughput(arm="plain-proxy-l7") < mtls.throughput(arm="plain-proxy-l4")


@both_ways
def test_encryption_keeps_half_of_the_throughput(mtls: ExperimentRun, mesh: str) -> None:
    assert mtls.throughput(arm=f"{mesh}-l7-mtls") / mtls.throughput(arm=f"{mesh}-l7") >= 0.5


@both_ways
def test_encryption_costs_less_than_the_hop(mtls: ExperimentRun, mesh: str) -> None:
    encryption = mtls.throughput(arm=f"{mesh}-l7-mtls") / mtls.throughput(arm=f"{mesh}-l7")
    hop = mtls.throughput(arm="plain-proxy-l4") / mtls.throughput(arm="none")
    assert encryption / hop >= 1


def test_consul_keeps_a_fifth_of_what_the_same_proxies_serve_without_it(mtls: ExperimentRun) -> None:
    assert mtls.throughput(arm="consul-l7-mtls") / mtls.throughput(arm="plain-proxy-l7") >= 0.2


@pytest.mark.parametrize("arm", ["istio-l7-mtls", "kuma-l7-mtls", "consul-l7-mtls"])
def test_a_sidecar_needs_at_most_64_mib(mtls: ExperimentRun, arm: str) -> None:
    assert mtls.memory_server_proxy(arm=arm) <= "64 MiB"
