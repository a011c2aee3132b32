from __future__ import annotations

import dataclasses
import itertools
from ipaddress import IPv4Address, IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare import manifest
from tare.cluster import addresses
from tare.errors import UsageError

NETWORK = manifest.Network(
    pod_cidr="198.18.0.0/16", service_cidr="198.19.64.0/18", node_cidr="198.19.200.0/24", dns_address="198.19.64.10"
)
BENCHMARKING = IPv4Network("198.18.0.0/15")


def test_the_plan_of_two_nodes() -> None:
    plan = addresses.plan(NETWORK, ["client", "fabric"])
    assert (plan.control_plane, plan.prefix, plan.api_service) == ("198.19.200.1", 24, "198.19.64.1")
    assert plan.api_url == "https://198.19.200.1:6443"
    assert plan.nodes["client"].address == "198.19.200.11"
    assert plan.nodes["fabric"].pod_cidr == "198.18.2.0/24"


@given(st.integers(min_value=1, max_value=200))
def test_nothing_is_given_twice_and_all_is_for_benchmarks(count: int) -> None:
    plan = addresses.plan(NETWORK, [f"node{index}" for index in range(count)])
    every = [plan.control_plane, *(node.address for node in plan.nodes.values())]
    assert len(set(every)) == count + 1
    assert all(IPv4Address(address) in BENCHMARKING for address in every)
    pods = [IPv4Network(node.pod_cidr) for node in plan.nodes.values()]
    assert all(network.subnet_of(IPv4Network(NETWORK.pod_cidr)) for network in pods)
    assert not any(one.overlaps(other) for one, other in itertools.pairwise(pods))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_cidr": "198.19.200.0/29"}, r"network.node_cidr: 198.19.200.0/29 is too small for 2 nodes"),
        ({"pod_cidr": "198.18.0.0/24"}, r"network.pod_cidr: 198.18.0.0/24 has no /24 for each of 2 nodes"),
        ({"pod_cidr": "198.18.0.0/25"}, r"network.pod_cidr"),
        ({"dns_address": "198.18.0.10"}, r"network.dns_address: expected an address in 198.19.64.0/18, found"),
    ],
)
def test_networks_that_do_not_fit_are_refused(change: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        addresses.plan(dataclasses.replace(NETWORK, **change), ["client", "fabric"])
