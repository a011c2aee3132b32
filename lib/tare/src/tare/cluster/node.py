"""One node: its place in the cgroups and the network, its daemons, and how each comes up."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tare import manifest
from tare.cgroup import CgroupTree
from tare.cluster import containerd, iptables, kubeconfig, kubelet
from tare.cluster.addresses import Addresses, NodeAddress
from tare.cluster.api import wait_until
from tare.cluster.images import Importer
from tare.cluster.network import NAMESPACES, Network
from tare.cluster.node_view import NodeView
from tare.cluster.pki import Authority, Identity
from tare.cluster.supervision import Program, Supervisor
from tare.cluster.tools import Tools
from tare.process import Argument, Commands

# Seen from the node, its own folder; see node_view.
_OWN = "/run/tare"
_CONTAINERD_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """A node of a cluster that is up. ``cgroup`` and ``pods_cgroup`` are paths in the lab's cgroup tree."""

    name: str
    address: str
    pod_cidr: str
    cpus: tuple[int, ...]
    cgroup: str
    network: Network

    @property
    def pods_cgroup(self) -> str:
        """The cgroup above all pods of the node."""
        return f"{self.cgroup}/kubepods"

    @property
    def daemons_cgroup(self) -> str:
        return f"{self.cgroup}/daemons"

    def pod_cgroup(self, pod: Mapping[str, Any]) -> str:
        """Return the cgroup of a pod of this node, given as the API server returns it."""
        quality = pod["status"]["qosClass"].lower()
        folder = "" if quality == "guaranteed" else f"/{quality}"
        return f"{self.pods_cgroup}{folder}/pod{pod['metadata']['uid']}"

    def argv(self, argv: Sequence[Argument]) -> list[str]:
        """Return the arguments that run a program in the node's network namespace."""
        return self.network.within(self.network.nodes[self.name], argv)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSetup:
    """How a node is brought up. ``directory`` is its folder in the state directory and has to exist."""

    node: ClusterNode
    settings: manifest.Node
    addresses: Addresses
    pods: str
    runtimes: Mapping[str, manifest.Runtime]
    node_path: tuple[str, ...]
    pause_image: str
    may_lower_oom_score: bool
    directory: Path
    tools: Tools
    commands: Commands
    supervisor: Supervisor
    tree: CgroupTree

    @property
    def view(self) -> NodeView:
        return NodeView(directory=self.directory, tools=self.tools, commands=self.commands)

    @property
    def address(self) -> NodeAddress:
        return self.addresses.nodes[self.node.name]

    def programs(self) -> tuple[Program, Program, Program]:
        """Return containerd, kubelet and kube-proxy."""
        kubelet_arguments = kubelet.arguments(
            configuration=f"{_OWN}/kubelet.json",
            kubeconfig=f"{_OWN}/kubelet.conf",
            node=self.node.name,
            address=self.node.address,
            labels=self.settings.labels,
        )
        return (
            self._program("containerd", "--config", f"{_OWN}/containerd.toml"),
            self._program("kubelet", *kubelet_arguments, hide_kernel_settings=True),
            self._program("kube-proxy", f"--config={_OWN}/proxy.json"),
        )

    def make_cgroups(self) -> None:
        self.tree.make(self.node.cgroup, cpus=self.node.cpus)
        self.tree.make(self.node.daemons_cgroup)

    def prepare(self, authority: Authority) -> None:
        """Make the node's view of the machine, and write what its daemons read. Its network has to exist."""
        view = self.view
        view.make(self.node.cpus)
        own = view.host(_OWN)
        self._write_identities(authority, own)
        (own / "resolv.conf").write_text(f"nameserver {self.addresses.dns}\n")
        (own / "containerd.toml").write_text(
            containerd.configuration(
                runtimes=self.runtimes,
                cni_plugins=self.tools.cni_plugins,
                pause_image=self.pause_image,
                may_lower_oom_score=self.may_lower_oom_score,
            )
        )
        for path, text in containerd.runtime_configurations(self.runtimes).items():
            view.host(path).write_text(text)
        view.host(containerd.CNI_CONFIGURATION).mkdir()
        configuration = containerd.network_configuration(self.node.pod_cidr)
        (view.host(containerd.CNI_CONFIGURATION) / "10-tare.conflist").write_text(configuration)
        (own / "kubelet.json").write_text(
            kubelet.configuration(
                address=self.node.address,
                cgroup=self.tree.kernel_path(self.node.cgroup),
                dns=self.addresses.dns,
                authority=f"{_OWN}/ca.crt",
                certificate=f"{_OWN}/kubelet.crt",
                key=f"{_OWN}/kubelet.key",
            )
        )
        (own / "proxy.json").write_text(
            kubelet.proxy_configuration(kubeconfig=f"{_OWN}/proxy.conf", node=self.node.name, pod_cidr=self.pods)
        )
        iptables.link(iptables.choose(self.node_path, self.node.argv, self.commands), own / "bin")

    def start_containerd(self, check: Callable[[str], None]) -> None:
        """Start containerd and wait until it takes connections. Raises NotReady, or what ``check`` raises."""
        name = self.program_name("containerd")
        self.supervisor.run(name)
        path = self.view.host(containerd.SOCKET)
        wait_until(name, lambda: _connect(path), timeout_seconds=_CONTAINERD_SECONDS, check=lambda: check(name))

    def start_kubelet(self) -> None:
        """Start the kubelet and kube-proxy; they find the API server when it is there."""
        self.supervisor.run(self.program_name("kubelet"))
        self.supervisor.run(self.program_name("kube-proxy"))

    def importer(self) -> Importer:
        return Importer(
            ctr=self.tools["ctr"], socket=containerd.SOCKET, within=self.among_daemons, commands=self.commands
        )

    @property
    def environment(self) -> Mapping[str, str]:
        """What the node's daemons find in their environment."""
        return {**kubelet.search_path([f"{_OWN}/bin", *self.node_path]), **iptables.environment(self.node_path)}

    def among_daemons(self, argv: Sequence[Argument]) -> list[str]:
        """Return the arguments that run a program as the node's daemons run: in their cgroup, network and view.

        What ends the daemons ends this too, instead of leaving it waiting for them.
        """
        network = NAMESPACES / self.node.network.nodes[self.node.name]
        enter: list[Argument] = [self.tools["nsenter"], f"--net={network}", f"--mount={self.view.namespace}", "--"]
        shell = (self.tools["busybox"], "sh")
        return self.tree.entering(self.node.daemons_cgroup, shell, [*enter, *argv])

    def program_name(self, program: str) -> str:
        return f"{self.node.name}-{program}"

    def _program(self, program: str, *arguments: str, hide_kernel_settings: bool = False) -> Program:
        argv: list[Argument] = [self.tools[program], *arguments]
        return Program(
            name=self.program_name(program),
            argv=self.view.hiding_kernel_settings(argv) if hide_kernel_settings else argv,
            cgroup=self.node.daemons_cgroup,
            network_namespace=self.node.network.nodes[self.node.name],
            mount_namespace=self.view.namespace,
            environment=self.environment,
        )

    def _write_identities(self, authority: Authority, own: Path) -> None:
        name = self.node.name
        (own / "ca.crt").write_bytes(authority.certificate.read_bytes())
        authority.issue(
            own / "kubelet", f"system:node:{name}", "system:nodes", addresses=[self.node.address], names=[name]
        )
        authority.issue(own / "proxy", "system:kube-proxy")
        for client in ("kubelet", "proxy"):
            seen = Identity(certificate=Path(_OWN, f"{client}.crt"), key=Path(_OWN, f"{client}.key"))
            kubeconfig.write(own / f"{client}.conf", self.addresses.api_url, Path(_OWN, "ca.crt"), seen)


def _connect(path: Path) -> None:
    """Raise OSError unless something listens at the socket, whose path may be longer than the kernel takes."""
    folder = os.open(path.parent, os.O_PATH | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
