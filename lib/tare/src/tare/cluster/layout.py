"""What a lab's cluster will consist of, worked out before anything is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.cgroup import CgroupTree, tree_of
from tare.cluster import addresses, cpu_sets, images, runtime_classes
from tare.cluster.addresses import Addresses
from tare.cluster.images import Image
from tare.cluster.network import Network
from tare.cluster.node import ClusterNode, NodeSetup
from tare.cluster.supervision import Supervisor
from tare.cluster.tools import Tools
from tare.errors import UsageError
from tare.machine import Machine
from tare.manifest import Manifest, Runtime
from tare.process import Argument, Commands
from tare.state import StateDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The parts of a cluster. ``runtimes`` are those that can run here; ``first_images`` a node cannot do without."""

    manifest: Manifest
    state: StateDirectory
    commands: Commands
    tools: Tools
    tree: CgroupTree
    addresses: Addresses
    network: Network
    supervisor: Supervisor
    runtimes: Mapping[str, Runtime]
    pause: Image
    dns: Image
    other_images: tuple[Image, ...]
    nodes: Mapping[str, NodeSetup]

    @property
    def pki_directory(self) -> Path:
        return self.state.path / "pki"

    @property
    def control_plane_directory(self) -> Path:
        return self.state.path / "control-plane"

    @property
    def nodes_directory(self) -> Path:
        return self.state.path / "nodes"

    @property
    def admin_kubeconfig(self) -> Path:
        return self.state.path / "admin.conf"

    @property
    def kubectl(self) -> list[str]:
        """The arguments before kubectl's own, in whoever's environment: a site's proxy does not know the lab."""
        kubectl: list[Argument] = [
            self.tools["kubectl"],
            f"--kubeconfig={self.admin_kubeconfig}",
            f"--cache-dir={self.state.path / 'kubectl-cache'}",
        ]
        without_proxy = [str(self.tools["busybox"]), "env", "-u", "HTTPS_PROXY", "-u", "https_proxy"]
        return [*without_proxy, *self.network.within(self.network.control_plane, kubectl)]


def plan(manifest: Manifest, state: StateDirectory, commands: Commands, machine: Machine) -> Layout:
    """Work the cluster out. Raises UsageError for a lab that cannot be, ProgramMissing and ImageError for
    files of it that are not there, CgroupError."""
    if not manifest.nodes:
        raise UsageError("nodes: a lab needs at least one")
    levels = runtime_classes.levels(manifest.runtimes, machine)
    runtimes = {name: runtime for name, runtime in manifest.runtimes.items() if levels[name] is None}
    if not runtimes:
        raise UsageError("runtimes: none can run here: " + "; ".join(f"{name}: {why}" for name, why in levels.items()))
    tools = Tools(manifest)
    tree = tree_of(state.lab)
    numbers = addresses.plan(manifest.network, sorted(manifest.nodes))
    network = Network(lab=state.lab, addresses=numbers, tools=tools, commands=commands)
    supervisor = Supervisor(
        directory=state.path / "supervisor", logs=state.logs, tools=tools, commands=commands, tree=tree
    )
    every_image = images.read(manifest.images)
    pause, dns = images.named(every_image, "pause"), images.named(every_image, "coredns")
    may_lower_oom_score = not machine.lacks(["cap-sys-resource"])
    nodes = {
        name: NodeSetup(
            node=node,
            settings=manifest.nodes[name],
            addresses=numbers,
            pods=manifest.network.pod_cidr,
            runtimes=runtimes,
            node_path=manifest.node_path,
            pause_image=pause.name,
            may_lower_oom_score=may_lower_oom_score,
            directory=state.path / "nodes" / name,
            tools=tools,
            commands=commands,
            supervisor=supervisor,
            tree=tree,
        )
        for name, node in cluster_nodes(manifest, numbers, network, machine).items()
    }
    return Layout(
        manifest=manifest,
        state=state,
        commands=commands,
        tools=tools,
        tree=tree,
        addresses=numbers,
        network=network,
        supervisor=supervisor,
        runtimes=runtimes,
        pause=pause,
        dns=dns,
        other_images=tuple(image for image in every_image.values() if image not in (pause, dns)),
        nodes=nodes,
    )


def cluster_nodes(manifest: Manifest, numbers: Addresses, network: Network, machine: Machine) -> dict[str, ClusterNode]:
    """Return the nodes by name, in order of name. Raises UsageError for CPU sets that cannot be."""
    cpus = cpu_sets.divide(manifest.nodes, machine.cpus)
    return {
        name: ClusterNode(
            name=name,
            address=numbers.nodes[name].address,
            pod_cidr=numbers.nodes[name].pod_cidr,
            cpus=cpus[name],
            cgroup=f"nodes/{name}",
            network=network,
        )
        for name in sorted(manifest.nodes)
    }
