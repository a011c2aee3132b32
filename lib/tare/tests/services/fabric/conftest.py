from __future__ import annotations

import pytest

from tare.manifest import Fabric, FabricNodeType


def node_type(name: str, *, replicas: int = 1) -> FabricNodeType:
    return FabricNodeType(
        image=f"tare.local/fabric-{name}:2.4.4", replicas=replicas, runtime_class=None, vcpus=None, memory_bytes=None
    )


@pytest.fixture
def spec() -> Fabric:
    return Fabric(
        node="fabric",
        channel="mychannel",
        organizations=2,
        batch_timeout_seconds=0.5,
        batch_max_messages=100,
        ready_timeout_seconds=60.0,
        node_types={name: node_type(name) for name in ("orderer", "peer", "chaincode", "ca")},
        tools={},
        sample_config="/sample-config",
    )
