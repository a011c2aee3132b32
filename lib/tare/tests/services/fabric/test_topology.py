from __future__ import annotations

import dataclasses
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import UsageError
from tare.manifest import Fabric, FabricNodeType
from tare.services.fabric.topology import Topology, plan

SERVICES = "198.19.64.0/18"


def with_replicas(spec: Fabric, **replicas: int) -> Fabric:
    node_types = {
        name: dataclasses.replace(node_type, replicas=replicas.get(name, node_type.replicas))
        for name, node_type in spec.node_types.items()
    }
    return dataclasses.replace(spec, node_types=node_types)


def test_the_studys_network_has_seven_containers(spec: Fabric) -> None:
    topology = plan(spec, SERVICES)
    assert {member.name: member.endpoint for member in topology.members} == {
        "orderer-1": "198.19.64.100:7050",
        "peer-org1-1": "198.19.64.101:7051",
        "chaincode-org1": "198.19.64.102:9999",
        "ca-org1": "198.19.64.103:7054",
        "peer-org2-1": "198.19.64.104:7051",
        "chaincode-org2": "198.19.64.105:9999",
        "ca-org2": "198.19.64.106:7054",
    }


def test_two_networks_can_stand_at_once(spec: Fabric) -> None:
    first, second = plan(spec, SERVICES), plan(spec, SERVICES, side=1)
    assert len(first.members) == len(second.members) == 7
    assert not {member.name for member in first.members} & {member.name for member in second.members}
    assert not {member.address for member in first.members} & {member.address for member in second.members}
    assert second.one("peer", 2).endpoint == "198.19.64.111:7051"


@given(organizations=st.integers(1, 9), orderers=st.integers(1, 7), peers=st.integers(1, 5))
def test_every_member_has_a_name_and_an_address_of_its_own(organizations: int, orderers: int, peers: int) -> None:
    node_types = {
        name: FabricNodeType(image="i", replicas=replicas, runtime_class=None, vcpus=None, memory_bytes=None)
        for name, replicas in {"orderer": orderers, "peer": peers, "chaincode": 1, "ca": 1}.items()
    }
    topology: Topology = plan(
        Fabric(
            node="n",
            channel="c",
            organizations=organizations,
            batch_timeout_seconds=1.0,
            batch_max_messages=1,
            ready_timeout_seconds=1.0,
            node_types=node_types,
            tools={},
            sample_config="",
        ),
        SERVICES,
    )
    assert len(topology.members) == orderers + organizations * (peers + 2)
    assert len({member.name for member in topology.members}) == len(topology.members)
    addresses = {member.address for member in topology.members}
    assert len(addresses) == len(topology.members)
    # Kubernetes hands out addresses by itself only above the static band.
    static_band = list(ipaddress.ip_network(SERVICES))[11:256]
    assert addresses <= {str(address) for address in static_band}


def test_a_second_ca_in_an_organisation_is_refused(spec: Fabric) -> None:
    with pytest.raises(UsageError, match=r"node_types\.ca\.replicas: expected 1 \(one per organisation\), found 2"):
        plan(with_replicas(spec, ca=2), SERVICES)


def test_a_network_without_orderer_is_refused(spec: Fabric) -> None:
    with pytest.raises(UsageError, match=r"node_types\.orderer\.replicas: expected at least 1, found 0"):
        plan(with_replicas(spec, orderer=0), SERVICES)


def test_a_missing_node_type_is_named(spec: Fabric) -> None:
    node_types = {name: node_type for name, node_type in spec.node_types.items() if name != "peer"}
    with pytest.raises(UsageError, match="expected 'peer', found"):
        plan(dataclasses.replace(spec, node_types=node_types), SERVICES)


def test_a_service_range_without_room_is_refused(spec: Fabric) -> None:
    with pytest.raises(UsageError, match=r"found 198\.19\.64\.0/26\. Use a range of at least a /24"):
        plan(spec, "198.19.64.0/26")
