"""Real servers on the loopback, and a cluster that has pods without running them: its cgroups are plain folders."""

from __future__ import annotations

import ctypes
import fcntl
import os
import queue
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tare.cgroup.v2 import CgroupTreeV2
from tare.cluster.api import describe_pods, wait_until
from tare.cluster.network import open_socket
from tare.cluster.node import ClusterNode
from tare.errors import NotReady
from tare.manifest import Arm, Call, ControlPlane, Http, HttpClient, HttpServer, Mesh, Sidecar
from tare.services.http.arms import MeshArm

Certificate = Callable[..., Path]


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    """Makes a certificate of its own with the URIs it is given, and returns the file with it and its key."""

    def make(*uris: str) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
        now = datetime.now(UTC)
        serial = x509.random_serial_number()
        builder = x509.CertificateBuilder(name, name, key.public_key(), serial, now, now + timedelta(1))
        if uris:
            names = x509.SubjectAlternativeName([x509.UniformResourceIdentifier(uri) for uri in uris])
            builder = builder.add_extension(names, critical=False)
        pem = serialization.Encoding.PEM
        secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file = tmp_path / f"{serial}.pem"
        file.write_bytes(secret + builder.sign(key, hashes.SHA256()).public_bytes(pem))
        return file

    return make


@dataclass
class Listener:
    """A server that is up, and what it was asked."""

    port: int
    asked: list[str] = field(default_factory=list)
    said: queue.Queue[str] = field(default_factory=queue.Queue)

    def heard(self) -> str:
        """Return what came of the next connection to a server of ``answering``; it is told after its client was."""
        return self.said.get(timeout=10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # As many connect at once as proxies need connections for.
    request_queue_size = 64


@pytest.fixture
def http_server() -> Iterator[Callable[..., Listener]]:
    """Starts HTTP servers: files of 64 and 1024 bytes as packages/http-server has them, anything else is not there."""
    running: list[_Server] = []

    def start(listening: socket.socket | None = None, *, spoil: int = 0) -> Listener:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found.asked.append(f"{self.path} {self.headers['Connection']}")
                size = int(self.path[1:]) if self.path in ("/64", "/1024") else 0
                body = (b"tare plaintext\n" * 70)[: max(size - spoil, 0)] if size else b"not here"
                self.send_response(200 if size else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        server = _Server(("127.0.0.1", 0), Handler, bind_and_activate=listening is None)
        if listening is not None:
            server.socket.close()
            server.socket = listening
        found = Listener(port=server.socket.getsockname()[1])
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        running.append(server)
        return found

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def answering() -> Iterator[Callable[..., Listener]]:
    """Starts servers that answer each connection with the same bytes, within TLS where they are given a context."""
    sockets: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def start(answer: bytes, *, tls: ssl.SSLContext | None = None, listening: socket.socket | None = None) -> Listener:
        server = listening or socket.create_server(("127.0.0.1", 0))
        server.settimeout(0.05)
        sockets.append(server)
        found = Listener(port=server.getsockname()[1])

        def serve() -> None:
            while server.fileno() != -1:
                try:
                    plain, _ = server.accept()
                except TimeoutError:
                    continue
                except OSError:
                    return
                plain.settimeout(2)
                try:
                    with tls.wrap_socket(plain, server_side=True) if tls else plain as connection:
                        request = connection.recv(4096).decode(errors="replace")
                        connection.sendall(answer)
                        found.said.put(request)
                except OSError as error:
                    found.said.put(f"refused: {error}")
                finally:
                    plain.close()

        thread = threading.Thread(target=serve)
        thread.start()
        threads.append(thread)
        return found

    yield start
    for server in sockets:
        server.close()
    for thread in threads:
        thread.join()


SPEC = Http(
    namespace="http",
    server=HttpServer(
        node="server",
        image="tare.local/http-server:1.22.1",
        workers=1,
        http_port=8080,
        tcp_port=8081,
        round_trip_port=12866,
        netserver_port=12865,
        payload_bytes=(1024, 64),
    ),
    client=HttpClient(node="client", image="tare.local/http-client:1"),
    proxy_workers=2,
    ready_timeout_seconds=30.0,
)


@pytest.fixture
def spec() -> Http:
    return SPEC


def pod(name: str, node: str, *, containers: Sequence[str], init: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a pod as the API server returns it (data/cluster has recorded ones), each container in its state."""

    def status(container: str, state: str) -> dict[str, Any]:
        return {
            "name": container,
            "containerID": f"containerd://{name}-{container}",
            "restartCount": 0,
            "state": {state: {}},
        }

    return {
        "metadata": {"name": f"{name}-7d9f", "uid": f"uid-{name}", "labels": {"app": name}},
        "spec": {"nodeName": node},
        "status": {
            "phase": "Running",
            "qosClass": "BestEffort",
            "podIP": {"server": "127.0.0.2", "client": "127.0.0.1"}.get(name, "198.18.0.9"),
            "conditions": [{"type": "Ready", "status": "True"}],
            "initContainerStatuses": [status(container, state) for container, state in (init or {}).items()],
            "containerStatuses": [status(container, "running") for container in containers],
        },
    }


@dataclass
class Lab:
    """What HttpService and HttpDeployment use of a Cluster. ``journal`` is what was asked of it, in its order.

    ``on_apply`` is called with each text that is applied. ``opened`` are the networks that sockets were to be opened
    in; they are, if it ``has_networks``.
    """

    cgroups: CgroupTreeV2
    nodes: Mapping[str, ClusterNode]
    manifest: Any = None
    pods: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    cannot_be_emptied: str = ""
    service_address: str = "198.19.64.7"
    journal: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    has_networks: bool = False
    not_available: frozenset[str] = frozenset()
    on_apply: Callable[[str], None] = lambda text: None

    def get(self, kind: str, namespace: str = "", selector: str = "") -> list[dict[str, Any]]:
        match kind:
            case "pods":
                found = self.pods.get(namespace, [])
                return [
                    each for each in found if not selector or selector == f"app={each['metadata']['labels']['app']}"
                ]
            case "services":
                of_proxy = {"metadata": {"name": "proxy"}, "spec": {"clusterIP": "198.19.64.9"}}
                return [of_proxy, {"metadata": {"name": "server"}, "spec": {"clusterIP": self.service_address}}]
        raise AssertionError(kind)

    def open_socket(self, network: str, *how: int) -> socket.socket:
        self.opened.append(network)
        return open_socket(network, *how) if self.has_networks else socket.socket(*how)

    def wait_until(self, what: str, look: Callable[[], str | None], *, timeout_seconds: float) -> None:
        self.journal.append(f"wait for {what}")
        wait_until(what, look, timeout_seconds=timeout_seconds, interval_seconds=0.01)

    def wait_until_available(self, deployment: str, *, namespace: str, timeout_seconds: float) -> None:
        self.journal.append(f"wait for deployment {namespace}/{deployment}")
        if deployment in self.not_available:
            raise NotReady(f"deployment {deployment}", timeout_seconds, self.pod_states(namespace))

    def wait_for(self, condition: str, selector: str, *, namespace: str, timeout_seconds: float) -> None:
        self.journal.append(f"wait for {condition} {namespace}/{selector}")

    def pod_states(self, namespace: str) -> str:
        return describe_pods(self.get("pods", namespace))

    def apply(self, manifests: str) -> None:
        self.journal.append(f"apply {manifests}")
        self.on_apply(manifests)

    def ensure_namespace(self, name: str) -> None:
        self.journal.append(f"namespace {name}")

    def empty(self, namespaces: Sequence[str], *, timeout_seconds: float) -> None:
        self.journal.append(f"empty {' '.join(namespaces)}")
        if self.cannot_be_emptied:
            raise ConnectionRefusedError(self.cannot_be_emptied)
        self.pods.clear()


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A cluster whose nodes are those of SPEC; there is no pod in it."""
    tree = CgroupTreeV2(lab="test", root=tmp_path / "cgroup")
    network: Any = SimpleNamespace(nodes={"server": "tare-test-server", "client": "tare-test-client"})
    nodes = {
        name: ClusterNode(name=name, address="", pod_cidr="", cpus=(0,), cgroup=f"nodes/{name}", network=network)
        for name in ("server", "client")
    }
    return Lab(cgroups=tree, nodes=nodes)


@pytest.fixture
def populate(lab: Lab) -> Callable[..., None]:
    """Puts a server and a client into the cluster, with these sidecars.

    The one process of each container is this one, unless another is given.
    """

    def add(*, sidecars: Sequence[str] = (), process: int | None = None) -> None:
        server = pod("server", "server", containers=["server", "round-trip", *sidecars], init={"init": "terminated"})
        client = pod("client", "client", containers=["client", *sidecars[:1]])
        lab.pods["http"] = [server, client]
        for each in lab.pods["http"]:
            for status in each["status"]["containerStatuses"]:
                folder = lab.cgroups.directories(
                    f"{lab.nodes[each['spec']['nodeName']].pod_cgroup(each)}/{status['containerID'][13:]}"
                )[0]
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "cgroup.procs").write_text(f"{process or os.getpid()}\n")

    return add


_CLONE_NEWNET = 0x40000000
_SIOCSIFNAME, _SIOCSIFFLAGS, _IFF_UP = 0x8923, 0x8914, 1
_libc = ctypes.CDLL(None, use_errno=True)


@pytest.fixture
def network() -> Iterator[str]:
    """The file of a network of its own, whose loopback is called ``eth0``, as a pod's interface is."""
    entered: queue.Queue[int | OSError] = queue.Queue()
    done = threading.Event()

    def live() -> None:
        try:
            if _libc.unshare(_CLONE_NEWNET) != 0:
                code = ctypes.get_errno()
                raise OSError(code, os.strerror(code))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
                fcntl.ioctl(any_socket, _SIOCSIFNAME, struct.pack("16s16s", b"lo", b"eth0"))
                fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"eth0", _IFF_UP))
        except OSError as error:
            entered.put(error)
        else:
            entered.put(threading.get_native_id())
            done.wait()

    thread = threading.Thread(target=live)
    thread.start()
    found = entered.get()
    if isinstance(found, OSError):
        raise found
    yield f"/proc/{found}/ns/net"
    done.set()
    thread.join()


@pytest.fixture
def make_arm() -> Callable[..., MeshArm]:
    """Makes an arm that calls a port of the loopback, as arms with sidecars do."""

    def make(
        port: int,
        *,
        address: Any = "local",
        round_trip: Call | None = None,
        sidecar: str | None = None,
        plane: ControlPlane | None = None,
        inject: str | None = None,
        manifests: str | None = None,
    ) -> MeshArm:
        arm = Arm(
            layer="l4", mtls=True, manifests=manifests, call=Call(address=address, port=port), round_trip=round_trip
        )
        mesh = Mesh(
            title="A mesh",
            version="1",
            control_plane=plane,
            inject=inject,
            sidecar=Sidecar(container=sidecar, uid=None) if sidecar else None,
            arms={"mesh-l4-mtls": arm},
            upstream=None,
        )
        return MeshArm(name="mesh-l4-mtls", mesh_name="mesh", mesh=mesh, arm=arm)

    return make
