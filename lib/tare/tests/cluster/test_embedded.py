"""What a cluster says before it makes anything. The cluster itself is in tests/system."""

from __future__ import annotations

import dataclasses
import io
import json
import os
from pathlib import Path

import pytest

from tare import manifest
from tare.cluster import Cluster, kubectl_argv, layout
from tare.cluster.embedded import KUBECTL, require
from tare.cluster.tools import Tools
from tare.errors import ManifestError, ProgramMissing, UsageError
from tare.ledger import Ledger
from tare.machine import Machine
from tare.process import Commands
from tare.progress import PlainProgress
from tare.state import StateDirectory

from .conftest import DIGEST, machine


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory) -> StateDirectory:
    # Not in a folder named after the test: paths of sockets have to be short.
    return StateDirectory(root=tmp_path_factory.mktemp("s"), lab="lab")


def cluster(lab: manifest.Manifest, state: StateDirectory, on: Machine) -> Cluster:
    return Cluster(manifest=lab, state=state, commands=Commands(), machine=on, progress=PlainProgress(io.StringIO()))


def test_without_root_it_says_what_needs_it_and_how_to_go_on(lab: manifest.Manifest, state: StateDirectory) -> None:
    with pytest.raises(UsageError, match=r"which only root may: run it as root, for example `sudo \./tare run lab`"):
        cluster(lab, state, machine(absent=("root", "cgroup"))).__enter__()
    assert not state.exists()


def test_everything_that_a_machine_lacks_is_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        require(machine(absent=("veth", "disk-space", "netem")), "lab")
    assert str(caught.value).splitlines()[1:] == ["  veth: as veth is", "  disk-space: as disk-space is"]


def test_a_program_that_is_gone_is_named(lab: manifest.Manifest, state: StateDirectory) -> None:
    Path(lab.tools["etcd"]).unlink()
    with pytest.raises(ProgramMissing, match=r"bin/etcd, which the manifest names; build the lab again"):
        cluster(lab, state, machine()).__enter__()
    assert not state.exists()


def test_a_program_that_the_manifest_does_not_have_is_named(lab: manifest.Manifest) -> None:
    tools = {name: path for name, path in lab.tools.items() if name not in ("ip", "cni")}
    with pytest.raises(ManifestError, match="tools: missing ip, cni; the embedded cluster needs"):
        Tools(dataclasses.replace(lab, tools=tools))


def test_levels_and_digests_are_known_before_entering(lab: manifest.Manifest, state: StateDirectory) -> None:
    this = cluster(lab, state, machine())
    assert this.runtime_levels()["gvisor"] is None
    assert this.image_digests["tare.local/pause:3.9"] == DIGEST


def test_the_layout_of_a_lab(lab: manifest.Manifest, state: StateDirectory) -> None:
    found = layout.plan(lab, state, Commands(), machine())
    assert set(found.runtimes) == {"runc", "gvisor"}
    client, fabric = found.nodes["client"].node, found.nodes["fabric"].node
    assert (client.cpus, fabric.cpus) == ((0,), (1,))
    assert fabric.pods_cgroup == "nodes/fabric/kubepods"
    assert fabric.argv(["ls"])[1:] == ["--net=/run/netns/tare-lab-fabric", "--", "ls"]
    assert [image.name for image in found.other_images] == ["tare.local/fabric-peer:2.4.4"]
    assert [program.name for program in found.nodes["client"].programs()] == [
        "client-containerd",
        "client-kubelet",
        "client-kube-proxy",
    ]


@pytest.mark.parametrize(
    ("quality", "path"),
    [
        ("Guaranteed", "kubepods/pod7"),
        ("Burstable", "kubepods/burstable/pod7"),
        ("BestEffort", "kubepods/besteffort/pod7"),
    ],
)
def test_the_cgroup_of_a_pod(lab: manifest.Manifest, state: StateDirectory, quality: str, path: str) -> None:
    node = layout.plan(lab, state, Commands(), machine()).nodes["client"].node
    assert node.pod_cgroup({"metadata": {"uid": "7"}, "status": {"qosClass": quality}}) == f"nodes/client/{path}"


def test_a_lab_that_no_runtime_can_run_is_refused(lab: manifest.Manifest, state: StateDirectory) -> None:
    only_kata = dataclasses.replace(lab, runtimes={"kata": lab.runtimes["kata"]})
    with pytest.raises(UsageError, match="runtimes: none can run here: kata: kvm-guests"):
        layout.plan(only_kata, state, Commands(), machine())


def test_kubectl_finds_a_lab_that_is_up(state: StateDirectory) -> None:
    with pytest.raises(UsageError, match="lab is not up; `tare up lab` brings it up"):
        kubectl_argv(state, ["get", "pods"])
    with state.own(), Ledger(state.ledger_path) as ledger:
        ledger.set_fact(KUBECTL, json.dumps(["/bin/kubectl", "--kubeconfig=x"]))
    assert kubectl_argv(state, ["get", "pods"]) == ["/bin/kubectl", "--kubeconfig=x", "get", "pods"]


@pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace is root's to make")
def test_a_namespace_of_the_same_name_is_left_alone(lab: manifest.Manifest, state: StateDirectory) -> None:
    namespace = Path("/run/netns/tare-lab-client")
    namespace.parent.mkdir(exist_ok=True)
    namespace.touch()
    try:
        with pytest.raises(Exception, match=r"tare-lab-client exists already.*`ip netns del tare-lab-client`"):
            cluster(lab, state, machine()).__enter__()
        assert namespace.exists()
        assert not state.exists()
    finally:
        namespace.unlink()
