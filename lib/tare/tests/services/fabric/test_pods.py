from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tare.errors import UsageError
from tare.manifest import Fabric, Level
from tare.services.fabric.material import Material
from tare.services.fabric.pods import labels, objects, vcpus
from tare.services.fabric.topology import plan


def made(spec: Fabric, levels: dict[str, Level], *, side: int = 0) -> dict[tuple[str, str], dict[str, Any]]:
    material = Material(
        directory=Path("/state/fabric-1"),
        nodes_directory=Path("/state/nodes/fabric-1"),
        package_ids={1: "assets_1:aa", 2: "assets_1:bb"},
        registrar_secrets={1: "s3cret"},
    )
    topology = plan(spec, "198.19.64.0/18", side=side)
    listed = objects(topology, spec, material, levels, node="node-1", nodes_folder="/var/lib/fabric/fabric-1")
    return {(document["kind"], document["metadata"]["name"]): document for document in listed}


def container(document: dict[str, Any]) -> dict[str, Any]:
    (only,) = document["spec"]["containers"]
    assert isinstance(only, dict)
    return only


@pytest.mark.parametrize(
    ("level", "orderer", "peer"), [("shared", None, None), ("1:2", 1.0, 2.0), ("0.25:0.5", 0.25, 0.5)]
)
def test_vcpus_by_node_type(spec: Fabric, level: str, orderer: float | None, peer: float | None) -> None:
    assert vcpus(spec, {"vcpus": level}) == {"orderer": orderer, "peer": peer, "chaincode": None, "ca": None}


@pytest.mark.parametrize("level", ["", "1", "1:", "a:b", "0:1", "1:-1", 2])
def test_other_levels_of_vcpus_are_refused(spec: Fabric, level: Level) -> None:
    with pytest.raises(UsageError, match=f'expected "orderer:peer" such as "1:2", or "shared", found "{level}"'):
        vcpus(spec, {"vcpus": level})


def test_without_the_factor_the_labs_own_limits_hold(spec: Fabric) -> None:
    peer = dataclasses.replace(spec.node_types["peer"], vcpus=1.5)
    limited = dataclasses.replace(spec, node_types={**spec.node_types, "peer": peer})
    assert vcpus(limited, {})["peer"] == 1.5


def test_every_member_has_a_service_at_its_address_and_a_pod_on_the_node(spec: Fabric) -> None:
    documents = made(spec, {"runtime": "gvisor", "vcpus": "shared"})
    assert len(documents) == 14
    assert documents["Service", "peer-org1-1"]["spec"]["clusterIP"] == "198.19.64.101"
    pods = [document for (kind, _), document in documents.items() if kind == "Pod"]
    assert {pod["spec"]["nodeName"] for pod in pods} == {"node-1"}
    assert {pod["spec"]["runtimeClassName"] for pod in pods} == {"gvisor"}
    assert {container(pod)["imagePullPolicy"] for pod in pods} == {"Never"}


def test_a_node_types_own_runtime_wins(spec: Fabric) -> None:
    ca = dataclasses.replace(spec.node_types["ca"], runtime_class="runc")
    documents = made(dataclasses.replace(spec, node_types={**spec.node_types, "ca": ca}), {"runtime": "kata"})
    assert documents["Pod", "ca-org1"]["spec"]["runtimeClassName"] == "runc"
    assert documents["Pod", "peer-org1-1"]["spec"]["runtimeClassName"] == "kata"


def test_no_runtime_level_means_the_clusters_default(spec: Fabric) -> None:
    assert "runtimeClassName" not in made(spec, {})["Pod", "orderer-1"]["spec"]


def test_a_limit_never_makes_a_pod_guaranteed(spec: Fabric) -> None:
    peer = dataclasses.replace(spec.node_types["peer"], memory_bytes=2**30)
    limited = dataclasses.replace(spec, node_types={**spec.node_types, "peer": peer})
    resources = container(made(limited, {"vcpus": "1:2"})["Pod", "peer-org1-1"])["resources"]
    assert resources["limits"] == {"cpu": "2000m", "memory": "1073741824"}
    assert resources["requests"].keys() == resources["limits"].keys()
    assert all(resources["requests"][name] != limit for name, limit in resources["limits"].items())


def test_members_with_state_see_their_own_folder(spec: Fabric) -> None:
    documents = made(spec, {})
    volumes = documents["Pod", "peer-org2-1"]["spec"]["volumes"]
    assert volumes == [
        {"name": "node", "hostPath": {"path": "/var/lib/fabric/fabric-1/peer-org2-1", "type": "Directory"}}
    ]
    assert "volumes" not in documents["Pod", "chaincode-org1"]["spec"]


def test_chaincode_is_called_by_its_organisations_package(spec: Fabric) -> None:
    environment = container(made(spec, {})["Pod", "chaincode-org2"])["env"]
    assert {"name": "CHAINCODE_ID", "value": "assets_1:bb"} in environment


def test_no_secret_reaches_the_api_server(spec: Fabric) -> None:
    assert "s3cret" not in str(made(spec, {}))


def test_a_network_finds_its_own_objects_and_none_of_the_other_sides(spec: Fabric) -> None:
    selectors = [labels(plan(spec, "198.19.64.0/18", side=side)).items() for side in (0, 1)]
    for side in (0, 1):
        for document in made(spec, {}, side=side).values():
            own = document["metadata"]["labels"].items()
            assert [selector <= own for selector in selectors] == [side == 0, side == 1]
