"""Who is in the network: its members, their names, addresses and ports. Pure."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from tare.errors import UsageError
from tare.manifest import Fabric

ORDERER_PORT = 7050
ADMIN_PORT = 7053
PEER_PORT = 7051
CHAINCODE_PORT = 9999
CA_PORT = 7054

PORTS = {
    "orderer": {"grpc": ORDERER_PORT, "admin": ADMIN_PORT},
    "peer": {"grpc": PEER_PORT},
    "chaincode": {"grpc": CHAINCODE_PORT},
    "ca": {"https": CA_PORT},
}

ORDERER_MSP = "OrdererMSP"
ORDERER_DOMAIN = "ordering.example.com"

# The static band of a service range, from which Kubernetes gives no address by itself, holds at
# least its first 16 and at most 256 addresses; the first ones are the API server's and the DNS'.
FIRST_ADDRESS = 100

# A network on the second side of a lab has other names: they are those of Pods and Services.
_SIDES = ("", "-side2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One container of the network. ``name`` is its Pod's and Service's; ``organization`` counts from 1
    and is None for the ordering service, ``index`` counts from 1 within a type and organisation."""

    name: str
    node_type: str
    organization: int | None
    index: int
    address: str

    @property
    def endpoint(self) -> str:
        """``address:port`` of the port that the rest of the network uses."""
        return f"{self.address}:{next(iter(PORTS[self.node_type].values()))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A network: orderers of one ordering service, and organisations with peers, chaincode and a CA each."""

    channel: str
    organizations: tuple[int, ...]
    members: tuple[Member, ...]
    side: int = 0

    def of(self, node_type: str, organization: int | None = None) -> tuple[Member, ...]:
        """Return the members of a type, of all organisations or of one."""
        return tuple(
            member
            for member in self.members
            if member.node_type == node_type and organization in (None, member.organization)
        )

    def one(self, node_type: str, organization: int | None = None) -> Member:
        """Return the first member of a type."""
        return self.of(node_type, organization)[0]


def msp(organization: int) -> str:
    """Return the MSP identifier of an organisation."""
    return f"Org{organization}MSP"


def domain(organization: int) -> str:
    """Return the domain name of an organisation, from which its certificates' names are made."""
    return f"org{organization}.example.com"


def plan(spec: Fabric, service_cidr: str, *, side: int = 0) -> Topology:
    """Return the network that ``spec`` asks for, with fixed addresses out of the cluster's service range.

    That of another ``side`` of the lab has other names and addresses, so that both can stand at once.

    The addresses are cluster IPs of Services: they must be known before the first container
    runs, because certificates, the channel's configuration and the chaincode packages name
    them, and the load runs in a node's network namespace, where kube-proxy's rules exist but
    the cluster's DNS is not the resolver. Raises UsageError for a network that cannot be.
    """
    for node_type in ("orderer", "peer", "chaincode", "ca"):
        if node_type not in spec.node_types:
            raise UsageError(f"services.fabric.node_types: expected {node_type!r}, found {sorted(spec.node_types)}")
        replicas = spec.node_types[node_type].replicas
        if replicas < 1 or (replicas > 1 and node_type in ("chaincode", "ca")):
            expected = "1 (one per organisation)" if node_type in ("chaincode", "ca") else "at least 1"
            raise UsageError(f"services.fabric.node_types.{node_type}.replicas: expected {expected}, found {replicas}")
    organizations = tuple(range(1, spec.organizations + 1))
    wanted: list[tuple[str, int | None, int]] = [
        ("orderer", None, index) for index in range(1, spec.node_types["orderer"].replicas + 1)
    ]
    for organization in organizations:
        for node_type in ("peer", "chaincode", "ca"):
            replicas = spec.node_types[node_type].replicas
            wanted += [(node_type, organization, index) for index in range(1, replicas + 1)]
    network = ipaddress.ip_network(service_cidr)
    first, count = FIRST_ADDRESS + side * len(wanted), (side + 1) * len(wanted)
    if network.num_addresses <= first + len(wanted):
        raise UsageError(
            f"network.service_cidr: expected room for {count} fixed addresses from number {FIRST_ADDRESS} on, "
            f"found {service_cidr}. Use a range of at least a /24."
        )
    return Topology(
        channel=spec.channel,
        side=side,
        organizations=organizations,
        members=tuple(
            Member(
                name=_name(node_type, organization, index) + _SIDES[side],
                node_type=node_type,
                organization=organization,
                index=index,
                address=str(network[first + offset]),
            )
            for offset, (node_type, organization, index) in enumerate(wanted)
        ),
    )


def _name(node_type: str, organization: int | None, index: int) -> str:
    if node_type in ("chaincode", "ca"):
        return f"{node_type}-org{organization}"
    return f"orderer-{index}" if organization is None else f"{node_type}-org{organization}-{index}"
