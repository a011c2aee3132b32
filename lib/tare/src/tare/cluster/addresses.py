"""Who has which address. Pure arithmetic on the lab's three networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from tare import manifest
from tare.errors import UsageError

# Nodes start here, so that their addresses are told from the control plane's at a glance.
_FIRST_NODE = 11
_POD_PREFIX = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAddress:
    """A node's address with the prefix length of the network it is in, and the network of its pods."""

    address: str
    prefix: int
    pod_cidr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """The addresses of one lab. ``api_service`` is that of the service ``kubernetes`` inside the cluster."""

    control_plane: str
    prefix: int
    api_service: str
    dns: str
    nodes: Mapping[str, NodeAddress]

    @property
    def api_url(self) -> str:
        return f"https://{self.control_plane}:6443"


def plan(network: manifest.Network, nodes: Sequence[str]) -> Addresses:
    """Give the control plane and each node an address, and each node a /24 for its pods.

    Raises UsageError when a network is too small for the nodes, or the DNS address is outside the services'.
    """
    node_network = IPv4Network(network.node_cidr)
    pod_network = IPv4Network(network.pod_cidr)
    services = IPv4Network(network.service_cidr)
    if _FIRST_NODE + len(nodes) >= node_network.num_addresses:
        raise UsageError(
            f"network.node_cidr: {node_network} is too small for {len(nodes)} nodes; take a larger network"
        )
    if pod_network.prefixlen > _POD_PREFIX or 2 ** (_POD_PREFIX - pod_network.prefixlen) <= len(nodes):
        raise UsageError(
            f"network.pod_cidr: {pod_network} has no /{_POD_PREFIX} for each of {len(nodes)} nodes; take a larger one"
        )
    if IPv4Address(network.dns_address) not in services:
        raise UsageError(f"network.dns_address: expected an address in {services}, found {network.dns_address}")
    pods = list(pod_network.subnets(new_prefix=_POD_PREFIX))[1 : len(nodes) + 1]
    return Addresses(
        control_plane=str(node_network[1]),
        prefix=node_network.prefixlen,
        api_service=str(services[1]),
        dns=network.dns_address,
        nodes={
            name: NodeAddress(
                address=str(node_network[_FIRST_NODE + index]), prefix=node_network.prefixlen, pod_cidr=str(pods[index])
            )
            for index, name in enumerate(nodes)
        },
    )
