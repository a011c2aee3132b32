"""The network's containers as Kubernetes objects. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tare.errors import UsageError
from tare.manifest import Fabric, FabricNodeType, Level
from tare.services.fabric.environment import ROOT, environment
from tare.services.fabric.material import Material
from tare.services.fabric.topology import PORTS, Member, Topology

_PART_OF = {"app.kubernetes.io/part-of": "fabric"}
_SIDE_LABEL = "app.kubernetes.io/instance"
NODE_TYPE_LABEL = "app.kubernetes.io/component"

_ARGUMENTS = {"orderer": [], "peer": ["node", "start"], "chaincode": [], "ca": ["start"]}

# Requests far below the limits keep every Pod out of the "Guaranteed" class, in which the static
# CPU manager would give a Pod with whole vCPUs cores of its own: the factor is the limit alone,
# and the containers share the node's CPUs with equal weight.
_REQUESTS = {"cpu": "10m", "memory": "16Mi"}


def vcpus(spec: Fabric, levels: Mapping[str, Level]) -> dict[str, float | None]:
    """Return the CPU limit by node type (None: no limit).

    The factor ``vcpus`` is ``orderer:peer`` (``1:2``) or ``shared``, no limit at all; without
    it the limits are the lab's own. Raises UsageError for any other level.
    """
    if "vcpus" not in levels:
        return {name: node_type.vcpus for name, node_type in spec.node_types.items()}
    level = str(levels["vcpus"])
    limits: dict[str, float | None] = dict.fromkeys(spec.node_types)
    if level == "shared":
        return limits
    orderer, colon, peer = level.partition(":")
    try:
        limits["orderer"], limits["peer"] = float(orderer), float(peer)
        valid = bool(colon) and float(orderer) > 0 and float(peer) > 0
    except ValueError:
        valid = False
    if not valid:
        raise UsageError(f'factor vcpus: expected "orderer:peer" such as "1:2", or "shared", found "{level}"')
    return limits


def objects(
    topology: Topology,
    spec: Fabric,
    material: Material,
    levels: Mapping[str, Level],
    *,
    node: str,
    nodes_folder: str,
) -> list[dict[str, Any]]:
    """Return a Service and a Pod for every member, fixed to the Kubernetes node named ``node``.

    ``nodes_folder`` is ``material.nodes_directory`` as that node sees it.
    """
    limits = vcpus(spec, levels)
    own = labels(topology)
    listed = [service(member, own) for member in topology.members]
    for member in topology.members:
        node_type = spec.node_types[member.node_type]
        package_id = material.package_ids.get(member.organization or 0) if member.node_type == "chaincode" else None
        listed.append(
            pod(
                member,
                node_type,
                own,
                node=node,
                runtime_class=node_type.runtime_class or _text(levels.get("runtime")),
                vcpu_limit=limits[member.node_type],
                variables=environment(member, package_id=package_id),
                folder=None if member.node_type == "chaincode" else f"{nodes_folder}/{member.name}",
            )
        )
    return listed


def labels(topology: Topology) -> dict[str, str]:
    """Return the labels that every object of a network has, and no object of another."""
    return {**_PART_OF, _SIDE_LABEL: f"side-{topology.side + 1}"}


def service(member: Member, own: Mapping[str, str]) -> dict[str, Any]:
    """Return the Service that gives a member its fixed address; ``own`` are its network's labels.

    Not-ready Pods are published: what waits for a member asks the member itself, and asks
    earlier than Kubernetes would say that it is ready.
    """
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": member.name, "labels": _labels(member, own)},
        "spec": {
            "clusterIP": member.address,
            "publishNotReadyAddresses": True,
            "selector": {"app.kubernetes.io/name": member.name},
            "ports": [{"name": name, "port": port} for name, port in PORTS[member.node_type].items()],
        },
    }


def pod(
    member: Member,
    node_type: FabricNodeType,
    own: Mapping[str, str],
    *,
    node: str,
    runtime_class: str | None,
    vcpu_limit: float | None,
    variables: Mapping[str, str],
    folder: str | None,
) -> dict[str, Any]:
    """Return a member's Pod. ``own`` are its network's labels; ``folder`` on the node is what the container sees as its
    root of data."""
    limits: dict[str, str] = {}
    if vcpu_limit is not None:
        limits["cpu"] = f"{round(vcpu_limit * 1000)}m"
    if node_type.memory_bytes is not None:
        limits["memory"] = str(node_type.memory_bytes)
    container: dict[str, Any] = {
        "name": member.node_type,
        "image": node_type.image,
        "imagePullPolicy": "Never",
        "args": _ARGUMENTS[member.node_type],
        "env": [{"name": name, "value": value} for name, value in variables.items()],
        "resources": {"requests": _REQUESTS, "limits": limits},
        # No capability is needed: the files belong to the container's user. This also holds on a
        # machine whose own bounding set lacks some of the capabilities that runc would give.
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    spec: dict[str, Any] = {
        "nodeName": node,
        # A member that ends during a measurement must be seen, not started again.
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "dnsPolicy": "Default",
        "containers": [container],
    }
    if runtime_class is not None:
        spec["runtimeClassName"] = runtime_class
    if folder is not None:
        container["workingDir"] = ROOT
        container["volumeMounts"] = [{"name": "node", "mountPath": ROOT}]
        spec["volumes"] = [{"name": "node", "hostPath": {"path": folder, "type": "Directory"}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": member.name, "labels": _labels(member, own)},
        "spec": spec,
    }


def _labels(member: Member, own: Mapping[str, str]) -> dict[str, str]:
    return {**own, "app.kubernetes.io/name": member.name, NODE_TYPE_LABEL: member.node_type}


def _text(level: Level | None) -> str | None:
    return None if level is None else str(level)
