"""What a container runtime costs Hyperledger Fabric, against what the study in labs/kata-hlf/paper.toml found for Kata.

The study's machine had eight CPUs and 300 transactions a second; these levels are of a machine with two.
A runtime that cannot run here is skipped with its reason: gVisor's figures are never Kata's.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tare import ExperimentRun, Factor, Trial, experiment, non_inferior

STUDY = tomllib.loads((Path(__file__).parent.parent / "labs" / "kata-hlf" / "paper.toml").read_text())["equal_shares"]

# What a secure runtime may cost. Kata's budgets are the study's figures for two CPUs; gVisor's are our own.
LEAST_GOODPUT = {"gvisor": 0.80, "kata": 1 + STUDY["throughput_change_2cpu"]}
MOST_LATENCY = {"gvisor": 4.0, "kata": 1 + STUDY["latency_change_2cpu"]}
MOST_CPU = {"gvisor": 4.0, "kata": 1 + STUDY["cpu_extra_2cpu"]}

secure_runtimes = pytest.mark.parametrize("runtime", ["gvisor", "kata"])


@experiment(
    lab="kata-hlf",
    factor=Factor("runtime", baseline="runc"),
    across=[Factor("total_cpus", levels=[1.0]), Factor("send_rate", levels=[30])],
    blocks=(6, 20),
    warmup="2 s",
    duration="5 s",
)
def runtimes(trial: Trial) -> None:
    """Thirty transactions a second, on one CPU for all seven containers."""
    trial.load("caliper")


@experiment(
    lab="kata-hlf",
    factor=Factor("vcpus", baseline="0.1:0.25", levels=["0.1:0.25", "0.4:0.25", "0.4:0.05"]),
    across=[
        Factor("runtime", levels=["runc"]),
        Factor("total_cpus", levels=[1.0]),
        Factor("send_rate", levels=[60]),
    ],
    blocks=(6, 20),
    warmup="2 s",
    duration="5 s",
)
def shares(trial: Trial) -> None:
    """CPUs given to the orderer, or to each peer, at a rate that the smallest peers cannot keep up with."""
    trial.load("caliper")


@pytest.mark.proof
def test_the_node_runs_the_network_and_nothing_of_it_is_open_to_others(runtimes: ExperimentRun) -> None:
    host = runtimes.lab.node("fabric").host
    assert host.process.get(comm="kubelet").user == "root"
    assert host.file("/run/tare/kubelet.key").mode == 0o600
    assert not host.socket("tcp://0.0.0.0:2379").is_listening


@secure_runtimes
def test_throughput_is_kept(runtimes: ExperimentRun, runtime: str) -> None:
    assert runtimes.goodput(runtime=runtime) / runtimes.goodput(runtime="runc") >= LEAST_GOODPUT[runtime]


@secure_runtimes
def test_latency_stays_within_bounds(runtimes: ExperimentRun, runtime: str) -> None:
    assert runtimes.latency_mean(runtime=runtime) / runtimes.latency_mean(runtime="runc") <= MOST_LATENCY[runtime]


@secure_runtimes
def test_cpu_use_stays_within_bounds(runtimes: ExperimentRun, runtime: str) -> None:
    assert runtimes.cpu_total(runtime=runtime) / runtimes.cpu_total(runtime="runc") <= MOST_CPU[runtime]


def test_peers_need_the_cpus(shares: ExperimentRun) -> None:
    assert shares.goodput(vcpus="0.1:0.25") > shares.goodput(vcpus="0.4:0.05")


def test_the_orderer_does_not(shares: ExperimentRun) -> None:
    assert non_inferior(shares.goodput(vcpus="0.1:0.25"), shares.goodput(vcpus="0.4:0.25"), margin="10 %")
