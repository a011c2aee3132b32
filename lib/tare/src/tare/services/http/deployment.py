"""A server and a client that are up, with what is between them."""

from __future__ import annotations

import functools
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tare.errors import TareError
from tare.manifest import Call, Http
from tare.services.client import Client
from tare.services.http import wire
from tare.services.http.arms import MeshArm
from tare.services.http.packets import Seen
from tare.services.http.request import OpenSocket
from tare.services.http.wire import Welcome

if TYPE_CHECKING:
    from tare.cluster import Cluster

# The labels of the pods, which are the names of their deployments.
SERVER, CLIENT = "server", "client"


class PodChanged(TareError):
    """A pod under test is not the one that was deployed: it ended, or was replaced."""

    def __init__(self, pod: str, found: str) -> None:
        super().__init__(f"the {pod}'s pod did not last: {found}; what was measured with it is not to be trusted")


class HttpDeployment:
    """An arm whose client has had an answer from its server. ``path`` and ``keep_alive`` are set by ``configure``.

    ``remove`` takes everything down again.
    """

    def __init__(self, *, cluster: Cluster, spec: Http, arm: MeshArm, remove: Callable[[], None]) -> None:
        self._cluster = cluster
        self._spec = spec
        self._remove: Callable[[], None] | None = remove
        self.arm = arm
        self.path = f"/{min(spec.server.payload_bytes)}"
        self.keep_alive = True
        self._pods = {name: self._find(name) for name in (SERVER, CLIENT)}
        self._address = self._service_address()
        self._namespace = self._network(CLIENT)

    @property
    def url(self) -> str:
        """Where the client calls the server, without a path."""
        return f"http://{self._endpoint(self.arm.arm.call)}"

    @property
    def round_trip(self) -> str | None:
        """``address:port`` of what answers single bytes, as the client calls it; None where bytes are not forwarded."""
        call = self.arm.arm.round_trip
        return None if call is None else self._endpoint(call)

    @property
    def netserver(self) -> str | None:
        """``address:port`` at which netperf asks for single bytes to be answered; None where they always are."""
        port = self._spec.server.netserver_port
        return None if port is None else self._endpoint(Call(address="service", port=port))

    @property
    def client(self) -> Client:
        """The client's pod, whose proxy is in the same network."""
        return Client(node=self._spec.client.node, network=self._namespace, path=self.path, keep_alive=self.keep_alive)

    def wire(self) -> Seen:
        """Return what the server's interface sees while the client calls."""
        return wire.seen_between(
            of_client=self.open_socket,
            of_server=self._opening(self._network(SERVER)),
            client=self._pod_address(CLIENT),
            server=self._pod_address(SERVER),
            url=self.url,
            path=self.path,
        )

    def plain_request(self, port: int) -> str | None:
        """Call a port of the server's pod without TLS, from a node and past every client's proxy.

        Returns None when it was answered, else how it was refused.
        """
        return wire.plain_request(self._stranger(), self._pod_address(SERVER), port, self.path)

    def without_certificate(self, port: int, *, highest: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED) -> Welcome:
        """Call a port of the server's pod by TLS, without a certificate of the mesh; from there too."""
        return wire.without_certificate(self._stranger(), self._pod_address(SERVER), port, self.path, highest=highest)

    def node_types(self) -> Mapping[str, Sequence[str]]:
        """Return the cgroups of the server, of each proxy, and of the control plane, those there are."""
        found = {
            "server": self._containers(SERVER, proxies=False),
            "server_proxy": self._containers(SERVER, proxies=True),
            "client_proxy": self._containers(CLIENT, proxies=True),
            "control_plane": self._control_plane(),
        }
        return {label: paths for label, paths in found.items() if paths}

    def require_running(self) -> None:
        """Raise PodChanged when a pod is not the very one that was deployed, with its containers as they were."""
        for name, pod in self._pods.items():
            now = self._find(name)
            if _identity(now) != _identity(pod):
                raise PodChanged(name, f"{sorted(_identity(pod))} became {sorted(_identity(now))}")

    def close(self) -> None:
        if self._remove is not None:
            self._remove()
            self._remove = None

    def _endpoint(self, call: Call) -> str:
        return f"{'127.0.0.1' if call.address == 'local' else self._address}:{call.port}"

    def _find(self, name: str) -> Mapping[str, Any]:
        pods = self._cluster.get("pods", self._spec.namespace, f"app={name}")
        if len(pods) != 1:
            raise PodChanged(name, f"there are {len(pods)} of it")
        return pods[0]

    def _service_address(self) -> str:
        services = self._cluster.get("services", self._spec.namespace)
        return next(str(each["spec"]["clusterIP"]) for each in services if each["metadata"]["name"] == SERVER)

    def _pod_address(self, name: str) -> str:
        return str(self._pods[name]["status"]["podIP"])

    def open_socket(self, *how: int) -> socket.socket:
        """Return a socket where the client is; ``how`` is as for ``socket.socket``. Raises OSError."""
        return self._cluster.open_socket(self._namespace, *how)

    def _opening(self, network: str) -> OpenSocket:
        return functools.partial(self._cluster.open_socket, network)

    def _stranger(self) -> OpenSocket:
        node = self._cluster.nodes[self._spec.client.node]
        return self._opening(node.network.nodes[node.name])

    def _network(self, name: str) -> str:
        """Return the file of a pod's network namespace."""
        pod = self._pods[name]
        pids = [pid for path in self._cgroups(pod, lambda _: True) for pid in self._cluster.cgroups.processes(path)]
        if not pids:
            raise PodChanged(name, "no process of it runs")
        return f"/proc/{min(pids)}/ns/net"

    def _containers(self, name: str, *, proxies: bool) -> list[str]:
        sidecar = self.arm.mesh.sidecar
        prefix = sidecar.container if sidecar else None
        # A mesh may need a second proxy in a pod; it is named after the first.
        return self._cgroups(
            self._pods[name], lambda found: proxies == (prefix is not None and found.startswith(prefix))
        )

    def _cgroups(self, pod: Mapping[str, Any], wanted: Callable[[str], bool]) -> list[str]:
        status = pod["status"]
        states = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
        of_pod = self._cluster.nodes[pod["spec"]["nodeName"]].pod_cgroup(pod)
        return [
            f"{of_pod}/{state['containerID'].rpartition('/')[2]}"
            for state in states
            if wanted(state["name"]) and "running" in state.get("state", {})
        ]

    def _control_plane(self) -> list[str]:
        plane = self.arm.mesh.control_plane
        if plane is None:
            return []
        pods = self._cluster.get("pods", plane.namespace)
        return [self._cluster.nodes[pod["spec"]["nodeName"]].pod_cgroup(pod) for pod in pods]


def _identity(pod: Mapping[str, Any]) -> frozenset[str]:
    """Return the containers of a pod, with how often each was started."""
    states = pod["status"].get("containerStatuses") or ()
    return frozenset(f"{pod['metadata']['name']}/{state['name']}: {state['restartCount']} restarts" for state in states)
