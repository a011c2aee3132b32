"""What the daemons of a node and of the control plane are told."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path

from tare import manifest
from tare.cluster import containerd, coredns, kubelet, network, pki, runtime_classes
from tare.cluster.addresses import Addresses
from tare.cluster.control_plane import ControlPlane
from tare.cluster.tools import Tools

from .conftest import NETWORK, machine

CRI = "io.containerd.grpc.v1.cri"


def containerd_configuration(lab: manifest.Manifest, *, may_lower_oom_score: bool = False) -> dict[str, object]:
    text = containerd.configuration(
        runtimes=lab.runtimes,
        cni_plugins=Path("/plugins"),
        pause_image="tare.local/pause:3.9",
        may_lower_oom_score=may_lower_oom_score,
    )
    cri: dict[str, object] = tomllib.loads(text)["plugins"][CRI]
    return cri


def test_containerd_has_a_handler_for_each_runtime(lab: manifest.Manifest) -> None:
    cri = containerd_configuration(lab)
    assert cri["sandbox_image"] == "tare.local/pause:3.9"
    handlers = cri["containerd"]["runtimes"]  # type: ignore[index]
    assert set(handlers) == {"runc", "runsc", "kata"}
    assert handlers["runsc"]["runtime_path"] == lab.runtimes["gvisor"].shim
    assert handlers["runsc"]["options"]["ConfigPath"] == "/run/tare/runsc.toml"
    assert handlers["runc"]["options"]["SystemdCgroup"] is False


def test_containerd_lowers_no_oom_score_where_it_may_not(lab: manifest.Manifest) -> None:
    assert containerd_configuration(lab, may_lower_oom_score=False)["restrict_oom_score_adj"] is True
    assert containerd_configuration(lab, may_lower_oom_score=True)["restrict_oom_score_adj"] is False


def test_kata_at_hand_has_its_shim_and_its_configuration(lab: manifest.Manifest) -> None:
    kata = dataclasses.replace(
        lab.runtimes["kata"], shim="/kata/bin/containerd-shim-kata-v2", config="[hypervisor.qemu]\n"
    )
    cri = containerd_configuration(dataclasses.replace(lab, runtimes={**lab.runtimes, "kata": kata}))
    assert cri["containerd"]["runtimes"]["kata"] == {  # type: ignore[index]
        "runtime_type": "io.containerd.kata.v2",
        "runtime_path": "/kata/bin/containerd-shim-kata-v2",
        "options": {"ConfigPath": "/run/tare/kata.toml"},
    }
    assert containerd.runtime_configurations({"kata": kata}) == {"/run/tare/kata.toml": "[hypervisor.qemu]\n"}


def test_pods_get_their_addresses_from_the_nodes_own_network() -> None:
    bridge = json.loads(containerd.network_configuration("198.18.2.0/24"))["plugins"][0]
    assert bridge["ipam"]["ranges"] == [[{"subnet": "198.18.2.0/24"}]]


def test_the_kubelet_is_kept_within_the_nodes_cgroup() -> None:
    text = kubelet.configuration(
        address="198.19.200.11",
        cgroup="/tare/lab/nodes/one",
        dns="198.19.64.10",
        authority="a",
        certificate="c",
        key="k",
    )
    document = json.loads(text)
    assert document["cgroupRoot"] == "/tare/lab/nodes/one"
    assert document["cpuManagerPolicy"] == "static"
    assert document["authentication"]["anonymous"] == {"enabled": False}
    assert document["oomScoreAdj"] == 0


def test_kubelet_arguments_name_labels_in_order() -> None:
    arguments = kubelet.arguments(
        configuration="c", kubeconfig="k", node="one", address="198.19.200.11", labels={"b": "2", "a": "1"}
    )
    assert "--node-labels=a=1,b=2" in arguments
    without = kubelet.arguments(configuration="c", kubeconfig="k", node="one", address="198.19.200.11", labels={})
    assert not any("labels" in argument for argument in without)


def test_the_proxy_leaves_the_machines_connection_tracking_alone() -> None:
    document = json.loads(kubelet.proxy_configuration(kubeconfig="k", node="one", pod_cidr="198.18.0.0/16"))
    assert document["mode"] == "iptables"
    assert document["conntrack"]["maxPerCore"] == 0


def control_plane(
    tmp_path: Path, plan: Addresses, tools: Tools, lab: manifest.Manifest, *, fsync: bool
) -> ControlPlane:
    return ControlPlane(
        directory=tmp_path,
        addresses=plan,
        network=NETWORK,
        settings=dataclasses.replace(lab.cluster, etcd_fsync=fsync),
        certificates=pki.make(tmp_path / "pki", plan),
        namespace="tare-lab",
        tools=tools,
    )


def test_etcd_waits_for_the_disk_only_if_told_to(
    tmp_path: Path, plan: Addresses, tools: Tools, lab: manifest.Manifest
) -> None:
    plane = control_plane(tmp_path, plan, tools, lab, fsync=False)
    assert "--unsafe-no-fsync" in plane.etcd().argv
    settings = dataclasses.replace(lab.cluster, etcd_fsync=True)
    assert "--unsafe-no-fsync" not in dataclasses.replace(plane, settings=settings).etcd().argv


def test_the_control_plane_is_in_its_own_cgroup_and_namespace(
    tmp_path: Path, plan: Addresses, tools: Tools, lab: manifest.Manifest
) -> None:
    plane = control_plane(tmp_path, plan, tools, lab, fsync=False)
    programs = [plane.etcd(), plane.api_server(), plane.controller_manager(), plane.scheduler()]
    assert {(program.cgroup, program.network_namespace) for program in programs} == {("control-plane", "tare-lab")}
    assert "--authorization-mode=Node,RBAC" in plane.api_server().argv
    assert f"--kubeconfig={tmp_path / 'scheduler.conf'}" in plane.scheduler().argv


def test_the_lines_for_ip(plan: Addresses) -> None:
    namespaces = {"client": "tare-lab-client", "fabric": "tare-lab-fabric"}
    lines = network.control_plane_lines(plan, namespaces)
    assert "address add 198.19.200.1/24 dev tare0" in lines
    assert "link add node1 type veth peer name eth0 netns tare-lab-fabric" in lines
    assert "route add 198.18.2.0/24 via 198.19.200.12" in lines
    node = network.node_lines(plan, "fabric")
    assert "route add 198.18.1.0/24 via 198.19.200.11" in node
    assert not any("198.18.2.0" in line for line in node)  # its own pods are on its own bridge


def test_runtimes_that_can_run_here(lab: manifest.Manifest) -> None:
    levels = runtime_classes.levels(lab.runtimes, machine())
    assert levels["runc"] is None
    assert levels["gvisor"] is None
    assert levels["kata"] is not None
    for reason in ("kvm-guests: as kvm-guests is", "vhost-vsock: as", "kata 3.2.0 is not on this machine"):
        assert reason in levels["kata"]


def test_a_runtime_whose_files_are_gone_cannot_run(lab: manifest.Manifest) -> None:
    runtimes = {"runc": dataclasses.replace(lab.runtimes["runc"], binary="/nowhere/runc")}
    assert runtime_classes.levels(runtimes, machine()) == {"runc": "/nowhere/runc is not there"}


def test_runtime_classes_state_what_a_runtime_adds(lab: manifest.Manifest) -> None:
    classes = {one["metadata"]["name"]: one for one in runtime_classes.objects(lab.runtimes)}
    assert classes["gvisor"]["handler"] == "runsc"
    assert "overhead" not in classes["runc"]
    assert classes["kata"]["overhead"] == {"podFixed": {"cpu": "250m", "memory": "160Mi"}}


def test_dns_answers_at_its_address_with_its_image() -> None:
    objects = {one["kind"]: one for one in coredns.objects("tare.local/coredns:1.11.1", "198.19.64.10")}
    assert objects["Service"]["spec"]["clusterIP"] == "198.19.64.10"
    container = objects["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert (container["image"], container["imagePullPolicy"]) == ("tare.local/coredns:1.11.1", "Never")
