"""A Fabric network as a service under test."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.errors import TareError, UsageError
from tare.manifest import Fabric, Level
from tare.process import Commands
from tare.progress import Progress
from tare.services.fabric import material as materials
from tare.services.fabric import pods
from tare.services.fabric.channel import Operator
from tare.services.fabric.diagnosis import Ended, describe, ended
from tare.services.fabric.material import CHAINCODE, Material
from tare.services.fabric.retry import Patience
from tare.services.fabric.topology import Topology, msp, plan

if TYPE_CHECKING:
    from tare.cluster import Cluster, ClusterNode

# Where a node sees the folders of its members: every node has a /var/lib of its own.
_NODES_FOLDER = "/var/lib/fabric"
_LOG_LINES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """How a client of one organisation reaches the network: its peer's endpoint (``host:port``) and TLS root, and
    the identity that the organisation's CA enrolled for it."""

    msp: str
    endpoint: str
    tls_root: Path
    certificate: Path
    private_key: Path


class MemberEnded(TareError):
    """A container of the network ended by itself; ``log`` is the last it wrote."""

    def __init__(self, ended: Ended, log: str) -> None:
        self.ended = ended
        self.log = log
        what = f"{ended.pod} ended with exit code {ended.exit_code} ({ended.reason})"
        super().__init__(f"{what}; the last it wrote:\n{log.strip() or '(nothing)'}")


class FabricDeployment:
    """A network that has committed a transaction of every organisation."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        topology: Topology,
        material: Material,
        objects: Sequence[Mapping[str, Any]],
        node: ClusterNode,
    ) -> None:
        self._cluster = cluster
        self._topology = topology
        self._material = material
        self._objects = tuple(objects)
        self._node = node
        self._node_types: Mapping[str, Sequence[str]] | None = None
        self.channel = topology.channel
        self.chaincode = CHAINCODE

    @property
    def gateways(self) -> tuple[Gateway, ...]:
        """One for each organisation."""
        return tuple(
            Gateway(
                msp=msp(organization),
                endpoint=self._topology.one("peer", organization).endpoint,
                tls_root=self._material.tls(self._topology.one("peer", organization)) / "ca.crt",
                certificate=self._material.client(organization) / "cert.pem",
                private_key=self._material.client(organization) / "key.pem",
            )
            for organization in self._topology.organizations
        )

    def node_types(self) -> Mapping[str, Sequence[str]]:
        """Return the cgroup paths of the Pods by node type. They are asked for once: Pods are never replaced."""
        if self._node_types is None:
            found: dict[str, list[str]] = {}
            for document in self._pods():
                node_type = document["metadata"]["labels"][pods.NODE_TYPE_LABEL]
                found.setdefault(node_type, []).append(self._node.pod_cgroup(document))
            self._node_types = found
        return self._node_types

    def require_running(self) -> None:
        """Raise MemberEnded if a container is no longer running; it is never started again."""
        for found in ended(self._pods()):
            log = self._cluster.kubectl("logs", found.pod, f"--tail={_LOG_LINES}")
            raise MemberEnded(found, log)

    def diagnosis(self) -> str:
        """Return what keeps Pods from running: their states, and the warnings there are about them."""
        warnings = self._get("events", "--field-selector=type=Warning,involvedObject.kind=Pod")
        return describe(self._pods(), warnings)

    def close(self) -> None:
        if self._objects:
            self._cluster.delete(self._objects)
            self._objects = ()
        # Only now: a container that still ran would write into its folder again.
        _remove(self._material.directory, self._material.nodes_directory)

    def _pods(self) -> list[dict[str, Any]]:
        selector = ",".join(f"{name}={value}" for name, value in pods.labels(self._topology).items())
        return self._get("pods", f"--selector={selector}")

    def _get(self, kind: str, *arguments: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = json.loads(self._cluster.kubectl("get", kind, *arguments, "--output=json"))[
            "items"
        ]
        return items


class FabricService:
    """Deploys networks as ``spec`` says.

    Factors: ``runtime`` (a RuntimeClass) and ``vcpus`` when deploying, ``total_cpus`` when
    configuring. Each deployment has a fresh folder below ``directory``, ledgers included. The
    channel is made from the node ``client``; ``side`` is that of the lab.
    """

    def __init__(
        self,
        *,
        cluster: Cluster,
        spec: Fabric,
        client: str,
        directory: Path,
        commands: Commands,
        progress: Progress,
        side: int = 0,
    ) -> None:
        self._cluster = cluster
        self._spec = spec
        self._client = client
        self._directory = directory
        self._commands = commands
        self._progress = progress
        self._topology = plan(spec, cluster.manifest.network.service_cidr, side=side)

    def deploy(self, levels: Mapping[str, Level]) -> FabricDeployment:
        """Bring up a network; see ``Service``. What was made is taken down again if that fails."""
        pods.vcpus(self._spec, levels)
        node = self._cluster.nodes[self._spec.node]
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        directory = Path(tempfile.mkdtemp(prefix="fabric-", dir=self._directory))
        nodes_folder = f"{_NODES_FOLDER}/{directory.name}"
        nodes_directory = self._cluster.host_path(node.name, nodes_folder)
        try:
            nodes_directory.mkdir(parents=True, mode=0o700)
            with self._progress.phase("identities"):
                material = materials.make(
                    self._topology,
                    self._spec,
                    directory=directory,
                    nodes_directory=nodes_directory,
                    commands=self._commands,
                )
        except BaseException:
            _remove(directory, nodes_directory)
            raise
        objects = pods.objects(self._topology, self._spec, material, levels, node=node.name, nodes_folder=nodes_folder)
        deployment = FabricDeployment(
            cluster=self._cluster,
            topology=self._topology,
            material=material,
            objects=objects,
            node=node,
        )
        try:
            with self._progress.phase("containers"):
                self._cluster.cgroups.set_cpu_quota(node.pods_cgroup, None)
                self._cluster.apply(objects)
            operator = self._operator(material, deployment)
            with self._progress.phase("channel"):
                operator.make_channel()
            with self._progress.phase("first transactions"):
                operator.transact()
        except BaseException as error:
            if isinstance(error, TareError):
                error.add_note(deployment.diagnosis())
            deployment.close()
            raise
        return deployment

    def configure(self, deployment: FabricDeployment, levels: Mapping[str, Level]) -> None:
        """Limit all of the network's containers together to ``total_cpus`` CPUs; no such level: no limit."""
        total = levels.get("total_cpus")
        if isinstance(total, str) or (total is not None and total <= 0):
            raise UsageError(f"factor total_cpus: expected a number of CPUs above 0, found {total!r}")
        node = self._cluster.nodes[self._spec.node]
        self._cluster.cgroups.set_cpu_quota(node.pods_cgroup, None if total is None else float(total))

    def _operator(self, material: Material, deployment: FabricDeployment) -> Operator:
        return Operator(
            topology=self._topology,
            material=material,
            tools=self._spec.tools,
            sample_config=self._spec.sample_config,
            commands=self._commands,
            inside=self._cluster.nodes[self._client].argv,
            patience=Patience(self._spec.ready_timeout_seconds, check=deployment.require_running),
        )


def _remove(*directories: Path) -> None:
    for directory in directories:
        if directory.exists():
            shutil.rmtree(directory)
