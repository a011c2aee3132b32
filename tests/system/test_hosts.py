"""testinfra's hosts of a real cluster: what is asked of a node, of the control plane and of pods is true of them.

Uses the lab kata-hlf, built if need be, or the folder of a built lab in $TARE_TEST_LAB.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tare import labs, machine
from tare.cluster import Cluster, StateDirectory
from tare.cluster.network import open_socket
from tare.errors import UsageError
from tare.hosts import CheckFailed, LabHosts
from tare.measure.sampler import Sampler
from tare.process import Commands
from tare.progress import PlainProgress

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces, mounts and cgroups are root's to make"),
]
LAB = "hosts-test"
DNS = "k8s-app=kube-dns"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    argument = os.environ.get("TARE_TEST_LAB", "kata-hlf")
    progress = PlainProgress(sys.stderr)
    built = labs.resolve(
        argument, link=tmp_path_factory.mktemp("lab") / "lab", environment=os.environ, progress=progress
    )
    with Cluster(
        manifest=dataclasses.replace(built.manifest, name=LAB),
        state=StateDirectory(root=tmp_path_factory.mktemp("s"), lab=LAB),
        commands=Commands(),
        machine=machine.probe(),
        progress=progress,
    ) as up:
        yield up


@pytest.fixture(scope="module")
def lab(cluster: Cluster) -> LabHosts:
    return LabHosts(cluster)


@pytest.fixture(scope="module")
def node(cluster: Cluster) -> str:
    """The node that the DNS server runs on."""
    (pod,) = cluster.get("pods", "kube-system", DNS)
    return str(pod["spec"]["nodeName"])


def test_a_nodes_daemons_listen_in_its_own_network(lab: LabHosts, cluster: Cluster, node: str) -> None:
    host = lab.node(node).host
    assert host.socket(f"tcp://{cluster.nodes[node].address}:10250").is_listening  # kubelet
    assert host.socket("unix:///run/containerd/containerd.sock").is_listening
    assert not host.socket("tcp://0.0.0.0:2379").is_listening  # etcd is the control plane's
    assert host.interface("eth0").addresses[0] == cluster.nodes[node].address


def test_a_nodes_processes_are_its_own(lab: LabHosts, cluster: Cluster, node: str) -> None:
    host = lab.node(node).host
    kubelet = host.process.get(comm="kubelet")
    assert (kubelet.user, kubelet.uid) == ("root", 0)
    assert f"--hostname-override={node}" in kubelet.args
    assert kubelet.pid in cluster.cgroups.processes(cluster.nodes[node].daemons_cgroup)
    assert host.process.filter(comm="etcd") == []
    assert not host.process.filter(pid=os.getpid())
    with pytest.raises(UsageError, match="no attribute pmem; there are pid, "):
        _ = kubelet.pmem


def test_a_nodes_files_are_seen_as_it_sees_them(lab: LabHosts, cluster: Cluster, node: str) -> None:
    host = lab.node(node).host
    key = host.file("/run/tare/kubelet.key")
    assert key.exists and key.is_file
    assert (key.mode, key.user, key.group) == (0o600, "root", "root")
    assert not host.file("/run/tare/there-is-none").exists
    assert "kubelet.key" in host.file("/run/tare").listdir()
    assert host.file("/run/tare/resolv.conf").content_string.startswith("nameserver ")
    assert cluster.host_path(node, "/run/tare/resolv.conf").stat().st_size == host.file("/run/tare/resolv.conf").size


def test_the_control_plane(lab: LabHosts) -> None:
    host = lab.control_plane.host
    assert host.process.get(comm="etcd").user == "root"
    assert host.socket("tcp://127.0.0.1:2379").is_listening
    assert host.socket("tcp://6443").is_listening


def test_a_pod_without_a_shell_in_its_image(lab: LabHosts, cluster: Cluster) -> None:
    (pod,) = cluster.get("pods", "kube-system", DNS)
    host = lab.pod(pod["metadata"]["name"], namespace="kube-system").host
    assert host.socket("tcp://53").is_listening
    assert not host.socket("tcp://10250").is_listening
    assert host.process.get().comm == "coredns"
    assert host.file("/coredns").is_executable
    assert not host.file("/bin/sh").exists
    assert host.file("/etc/coredns/Corefile").contains("kubernetes")
    assert pod["metadata"]["name"] in host.check_output("hostname")


def with_shell(busybox: Path, archive: Path) -> str:
    """Write an image of busybox as an OCI archive (image-spec, layout), and return its name."""
    name = "tare.local/with-shell:1"
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as files:
        program = tarfile.TarInfo("bin/busybox")
        program.size, program.mode = busybox.stat().st_size, 0o755
        files.addfile(program, io.BytesIO(busybox.read_bytes()))
        for link in ("sh", "test", "cat", "stat", "uname", "sleep"):
            info = tarfile.TarInfo(f"bin/{link}")
            info.type, info.linkname = tarfile.SYMTYPE, "busybox"
            files.addfile(info)

    def described(content: bytes, kind: str) -> tuple[dict[str, Any], bytes]:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest, "size": len(content)}, content

    of_layer = described(layer.getvalue(), "layer.v1.tar")
    root = {"type": "layers", "diff_ids": [of_layer[0]["digest"]]}
    config = {"architecture": "amd64", "os": "linux", "rootfs": root, "config": {"Entrypoint": ["/bin/sleep", "999"]}}
    of_config = described(json.dumps(config).encode(), "config.v1+json")
    manifest = {"schemaVersion": 2, "config": of_config[0], "layers": [of_layer[0]]}
    of_manifest = described(json.dumps(manifest).encode(), "manifest.v1+json")
    index = {"schemaVersion": 2, "manifests": [of_manifest[0] | {"annotations": {"io.containerd.image.name": name}}]}
    contents = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": json.dumps(index).encode()}
    contents |= {
        f"blobs/sha256/{about['digest'].removeprefix('sha256:')}": content
        for about, content in (of_layer, of_config, of_manifest)
    }
    with tarfile.open(archive, "w") as files:
        for path, content in contents.items():
            info = tarfile.TarInfo(path)
            info.size = len(content)
            files.addfile(info, io.BytesIO(content))
    return name


@pytest.fixture
def sandboxed(cluster: Cluster, node: str, tmp_path: Path) -> Iterator[None]:
    """Pods in gVisor: ``with-shell`` and ``without-shell``."""
    if cluster.runtime_levels().get("gvisor", "not in the lab") is not None:
        pytest.skip("gVisor does not run here")
    tools = cluster.manifest.tools
    name = with_shell(Path(tools["busybox"]), tmp_path / "image.tar")
    ctr = [tools["ctr"], "--address=/run/containerd/containerd.sock", "--namespace=k8s.io"]
    put = cluster.run_on_node(node, [*ctr, "images", "import", tmp_path / "image.tar"], deadline_seconds=60)
    assert put.returncode == 0, put
    images = {
        "with-shell": name,
        "without-shell": next(image for image in cluster.manifest.images if "/pause:" in image),
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": pod, "labels": {"app": "sandboxed"}},
            "spec": {
                "runtimeClassName": "gvisor",
                "nodeName": node,
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "only", "image": image, "imagePullPolicy": "Never"}],
            },
        }
        for pod, image in images.items()
    ]
    cluster.apply(pods)
    cluster.wait_for("Ready", "app=sandboxed", timeout_seconds=60)
    yield
    cluster.delete(pods)


@pytest.mark.usefixtures("sandboxed")
def test_sandboxed_pods_are_asked_by_kubectl(lab: LabHosts) -> None:
    host = lab.pod("with-shell").host
    assert host.file("/bin/busybox").mode == 0o755
    assert not host.file("/etc/passwd").exists  # exit code 1 of the program, not of kubectl
    failed = host.run("cat /there/is/none; exit 7")
    assert (failed.rc, failed.stdout) == (7, "")
    assert failed.stderr.strip().endswith("No such file or directory")
    assert "bin" in host.file("/").listdir()
    with pytest.raises(CheckFailed, match=r"pod without-shell, container only: kubectl exec: (.|\n)*has no shell"):
        lab.pod("without-shell").host.file("/").exists  # noqa: B018


def test_what_is_not_there_is_told(lab: LabHosts, cluster: Cluster, node: str) -> None:
    with pytest.raises(UsageError, match=rf"node 'n9': the lab has .*{node}"):
        lab.node("n9")
    with pytest.raises(UsageError, match="pod 'none': the pods of the namespace 'kube-system' are: coredns"):
        lab.pod("none", namespace="kube-system")
    (pod,) = cluster.get("pods", "kube-system", DNS)
    with pytest.raises(UsageError, match="container 'other' does not run; those that do: coredns"):
        lab.pod(pod["metadata"]["name"], namespace="kube-system", container="other")
    with pytest.raises(CheckFailed, match=rf"node {node}: testinfra asks by `getent group root`: .*getent: not found"):
        lab.node(node).host.group("root").exists  # noqa: B018


def test_a_host_is_made_once(lab: LabHosts, node: str) -> None:
    assert lab.node(node).host is lab.node(node).host
    assert repr(lab.node(node).host) == f"<testinfra.host.Host tare://node {node}>"


def test_the_sampler_counts_what_a_pod_sends(cluster: Cluster, node: str) -> None:
    (pod,) = cluster.get("pods", "kube-system", DNS)
    cgroup = cluster.nodes[node].pod_cgroup(pod)
    network = cluster.nodes[node].network
    with Sampler(cluster.cgroups, {"dns": [cgroup]}) as sampler, open_socket(network.nodes[node]) as connection:
        connection.settimeout(5)
        connection.connect((pod["status"]["podIP"], 8080))
        connection.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        assert b"200 OK" in connection.recv(4096)
    used = sampler.totals()["dns"]
    assert used.received_bytes is not None and used.received_bytes > 100
    assert used.sent_bytes is not None and used.sent_bytes > 100
    assert sampler.lost == {}
