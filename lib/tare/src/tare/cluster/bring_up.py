"""The bring-up as a list of steps, each with those it has to wait for; everything else overlaps.

What decides is CPU: on two of them the API server's start is the longest chain, so nodes make
themselves ready beside it, and the images that only experiments use come last.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from urllib.parse import quote

from tare.cluster import coredns, kubeconfig, pki, runtime_classes
from tare.cluster.api import Api, Object, describe_pods, is_true, wait_until
from tare.cluster.control_plane import CGROUP, ControlPlane
from tare.cluster.images import Image
from tare.cluster.layout import Layout
from tare.cluster.node import NodeSetup
from tare.cluster.steps import Step

_API_SECONDS = 40.0
_DNS_SECONDS = 40.0
_API_PROGRAMS = ("etcd", "kube-apiserver")
_CONTROLLERS = ("kube-controller-manager", "kube-scheduler")


@dataclass(frozen=True, slots=True, kw_only=True)
class BringUp:
    """One bring-up. ``apply`` sends objects to the API server; ``stop`` ends waits early."""

    layout: Layout
    control_plane: ControlPlane
    api: Api
    apply: Callable[[Sequence[Object]], None]
    stop: threading.Event

    def steps(self) -> list[Step]:
        """Return the steps; ``nodes``, ``images`` and ``dns`` are the ends that a cluster is up with."""
        nodes = self.layout.nodes
        return [
            Step(name="cgroups", run=self._make_cgroups),
            Step(name="network", run=self.layout.network.make),
            Step(name="supervisor", run=self._start_supervisor),
            Step(name="api-server", run=self._start_api_server, needs=("cgroups", "network", "supervisor")),
            Step(name="controllers", run=self._start_controllers, needs=("api-server",)),
            Step(name="objects", run=self._apply_objects, needs=("controllers",)),
            *(step for name, node in nodes.items() for step in self._node_steps(name, node)),
            Step(
                name="nodes", run=self._wait_for_nodes, needs=("controllers", *(f"{name}: kubelet" for name in nodes))
            ),
            Step(name="dns", run=self._wait_for_dns, needs=("nodes", "objects")),
            *(
                Step(
                    name=f"{name}: images",
                    run=lambda node=node: self._put_images(node, self.layout.other_images),  # type: ignore[misc]
                    needs=("nodes",),
                )
                for name, node in nodes.items()
            ),
            Step(name="images", run=lambda: None, needs=tuple(f"{name}: images" for name in nodes)),
        ]

    def _node_steps(self, name: str, node: NodeSetup) -> list[Step]:
        authority = self.control_plane.certificates.authority
        first = (self.layout.pause, self.layout.dns)
        return [
            Step(name=f"{name}: view", run=lambda: node.prepare(authority), needs=("network",)),
            Step(
                name=f"{name}: containerd",
                run=lambda: node.start_containerd(lambda program: self._check([program])),
                needs=("cgroups", "supervisor", f"{name}: view"),
            ),
            Step(
                name=f"{name}: first images",
                run=lambda: self._put_images(node, first),
                needs=(f"{name}: containerd",),
            ),
            Step(name=f"{name}: kubelet", run=node.start_kubelet, needs=(f"{name}: containerd", "api-server")),
        ]

    def _make_cgroups(self) -> None:
        self.layout.tree.make(CGROUP)
        for node in self.layout.nodes.values():
            node.make_cgroups()

    def _start_supervisor(self) -> None:
        plane = self.control_plane
        programs = [plane.etcd(), plane.api_server(), plane.controller_manager(), plane.scheduler()]
        for node in self.layout.nodes.values():
            programs += node.programs()
        self.layout.supervisor.start(programs)

    def _start_api_server(self) -> None:
        """Returns when it answers; what it sets up for itself then is still missing, see ``_start_controllers``."""
        for program in _API_PROGRAMS:
            self.layout.supervisor.run(program)
        self._wait("kube-apiserver", lambda: self.api.get("/version") and None, _API_SECONDS, _API_PROGRAMS)

    def _start_controllers(self) -> None:
        # Before the API server is ready, they are refused their own configuration and give up.
        self._wait("kube-apiserver", lambda: self.api.get("/readyz") and None, _API_SECONDS, _API_PROGRAMS)
        for program in _CONTROLLERS:
            self.layout.supervisor.run(program)

    def _apply_objects(self) -> None:
        layout = self.layout
        self.apply([*runtime_classes.objects(layout.runtimes), *coredns.objects(layout.dns.name, layout.addresses.dns)])

    def _put_images(self, node: NodeSetup, images: Sequence[Image]) -> None:
        importer = node.importer()
        for image in images:
            self._raise_if_stopped()
            importer.put(image)
        importer.verify(images)

    def _wait_for_nodes(self) -> None:
        def missing() -> str | None:
            nodes = {node["metadata"]["name"]: node for node in self.api.get("/api/v1/nodes")["items"]}
            waiting = []
            for name in self.layout.nodes:
                if name not in nodes:
                    waiting.append(f"{name} has not registered")
                elif not is_true(nodes[name], "Ready"):
                    waiting.append(f"{name} is not Ready: {_why(nodes[name], 'Ready')}")
                elif nodes[name]["spec"].get("taints"):
                    waiting.append(f"{name} still has the taint {nodes[name]['spec']['taints'][0]['key']}")
            return "; ".join(waiting) or None

        daemons = [program.name for node in self.layout.nodes.values() for program in node.programs()]
        timeout_seconds = self.layout.manifest.cluster.ready_timeout_seconds
        self._wait("nodes", missing, timeout_seconds, [*_API_PROGRAMS, *_CONTROLLERS, *daemons])

    def _wait_for_dns(self) -> None:
        selector = quote(",".join(f"{name}={value}" for name, value in coredns.LABELS.items()))

        def missing() -> str | None:
            pods = self.api.get(f"/api/v1/namespaces/{coredns.NAMESPACE}/pods?labelSelector={selector}")["items"]
            if any(is_true(pod, "Ready") for pod in pods):
                # Pods of an experiment need it, and it is made a moment after its namespace.
                self.api.get("/api/v1/namespaces/default/serviceaccounts/default")
                return None
            return describe_pods(pods)

        self._wait("DNS", missing, _DNS_SECONDS, ())

    def _wait(self, what: str, look: Callable[[], str | None], timeout_seconds: float, programs: Sequence[str]) -> None:
        """Wait as ``wait_until`` does, as long as ``programs`` stay up and nobody says stop."""
        wait_until(what, look, timeout_seconds=timeout_seconds, check=lambda: self._check(programs))

    def _check(self, programs: Sequence[str]) -> None:
        self._raise_if_stopped()
        self.layout.supervisor.check(programs)

    def _raise_if_stopped(self) -> None:
        if self.stop.is_set():
            raise CancelledError


def prepare(layout: Layout, *, apply: Callable[[Sequence[Object]], None], stop: threading.Event) -> BringUp:
    """Make the certificates and return the bring-up that uses them."""
    certificates = pki.make(layout.pki_directory, layout.addresses)
    authority = certificates.authority.certificate
    kubeconfig.write(layout.admin_kubeconfig, layout.addresses.api_url, authority, certificates.admin)
    layout.control_plane_directory.mkdir(mode=0o700)
    control_plane = ControlPlane(
        directory=layout.control_plane_directory,
        addresses=layout.addresses,
        network=layout.manifest.network,
        settings=layout.manifest.cluster,
        certificates=certificates,
        namespace=layout.network.control_plane,
        tools=layout.tools,
    )
    return BringUp(layout=layout, control_plane=control_plane, api=api(layout), apply=apply, stop=stop)


def api(layout: Layout) -> Api:
    """Return a connection to the API server as the administrator, whose certificate ``prepare`` has made."""
    return Api(
        namespace=layout.network.control_plane,
        address=layout.addresses.control_plane,
        authority=layout.pki_directory / "ca.crt",
        identity=pki.Identity(certificate=layout.pki_directory / "admin.crt", key=layout.pki_directory / "admin.key"),
    )


def _why(thing: Object, condition: str) -> str:
    conditions = thing.get("status", {}).get("conditions") or ()
    return next((found.get("message", "") for found in conditions if found["type"] == condition), "it has not said")
