"""What tests of the cluster need: an address plan, and a manifest with tools and images that are files."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare import manifest
from tare.cluster import addresses, mounts
from tare.cluster.addresses import Addresses
from tare.cluster.network import NAMESPACES
from tare.cluster.tools import CNI, PROGRAMS, Tools
from tare.machine import Capability, Machine

NETWORK = manifest.Network(
    pod_cidr="198.18.0.0/16", service_cidr="198.19.64.0/18", node_cidr="198.19.200.0/24", dns_address="198.19.64.10"
)
DIGEST = "sha256:" + "ab" * 32


@pytest.fixture
def plan() -> Addresses:
    return addresses.plan(NETWORK, ["client", "fabric"])


@pytest.fixture
def lab(kata_hlf: manifest.Manifest, tmp_path: Path) -> manifest.Manifest:
    """The lab kata-hlf with empty files for its programs and images."""
    programs = {name: tmp_path / "bin" / name for name in PROGRAMS}
    (tmp_path / "bin").mkdir()
    for program in (*programs.values(), tmp_path / "bin" / "bridge"):
        program.touch(mode=0o755)
    images = {}
    for name in ("tare.local/pause:3.9", "tare.local/coredns:1.11.1", "tare.local/fabric-peer:2.4.4"):
        folder = tmp_path / "images" / name.replace("/", "-")
        folder.mkdir(parents=True)
        (folder / "image.json").write_text(json.dumps({"name": name, "digest": DIGEST}))
        (folder / "image.tar").touch()
        images[name] = str(folder)
    runtimes = {
        name: dataclasses.replace(runtime, binary=None, shim=str(programs["containerd"]) if name != "kata" else None)
        for name, runtime in kata_hlf.runtimes.items()
    }
    tools = {**{name: str(path) for name, path in programs.items()}, CNI: str(tmp_path / "bin")}
    return dataclasses.replace(
        kata_hlf, tools=tools, node_path=(str(tmp_path / "bin"),), images=images, runtimes=runtimes, network=NETWORK
    )


@pytest.fixture
def tools(lab: manifest.Manifest) -> Tools:
    return Tools(lab)


def machine(*, cpus: tuple[int, ...] = (0, 1), absent: tuple[str, ...] = ("kvm-guests", "vhost-vsock")) -> Machine:
    names = (
        *("root", "cgroup", "network-namespaces", "mount-namespaces", "overlayfs", "veth", "bridge", "netfilter"),
        *("cap-sys-resource", "kvm-guests", "vhost-vsock", "netem", "disk-space"),
    )
    capabilities = {name: Capability(name=name, present=name not in absent, detail=f"as {name} is") for name in names}
    return Machine(
        cpus=cpus, memory_bytes=1 << 34, kernel="6.1", cpu_model="x", cgroup_version=1, capabilities=capabilities
    )


@pytest.fixture(scope="session", autouse=True)
def namespace_folder() -> Iterator[None]:
    """Leave the folder of named network namespaces as it was: iproute2 makes it and mounts it with the first one."""
    was_there, was_mounted = NAMESPACES.exists(), NAMESPACES in mounts.below(NAMESPACES)
    yield
    if NAMESPACES.exists() and not any(NAMESPACES.iterdir()):
        if not was_mounted and NAMESPACES in mounts.below(NAMESPACES):
            mounts.unmount(NAMESPACES)
        if not was_there:
            NAMESPACES.rmdir()
