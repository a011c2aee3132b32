"""A deployment as its cluster shows it: cgroups are real folders, requests go to real servers on the loopback."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

import pytest

from tare.manifest import Call, ControlPlane, Http
from tare.services.http.deployment import HttpDeployment, PodChanged

Make = Callable[..., Any]

NETWORK = f"/proc/{os.getpid()}/ns/net"
OF_SERVER, OF_CLIENT = (f"nodes/{name}/kubepods/besteffort/poduid-{name}" for name in ("server", "client"))


@pytest.fixture
def deployed(lab: Any, spec: Http, populate: Make, make_arm: Make) -> Make:
    def deploy(port: int = 15001, *, sidecars: tuple[str, ...] = (), **arm: Any) -> HttpDeployment:
        if not lab.pods:
            populate(sidecars=sidecars)
        return HttpDeployment(cluster=lab, spec=spec, arm=make_arm(port, **arm), remove=lambda: lab.journal.append("x"))

    return deploy


def test_the_client_calls_its_own_proxy_or_the_service(deployed: Make) -> None:
    assert deployed(15001).url == "http://127.0.0.1:15001"
    assert deployed(8081, address="service").url == "http://198.19.64.7:8081"


def test_where_single_bytes_are_answered(deployed: Make) -> None:
    assert deployed().round_trip is None
    assert deployed(round_trip=Call(address="service", port=12866)).round_trip == "198.19.64.7:12866"
    assert deployed(round_trip=Call(address="local", port=15002)).round_trip == "127.0.0.1:15002"


def test_where_netperf_asks_for_a_test(deployed: Make, lab: Any, spec: Http) -> None:
    # The service's, for what is asked for is not what is measured.
    deployment = deployed(round_trip=Call(address="local", port=12866))
    assert deployment.netserver == "198.19.64.7:12865"
    always = dataclasses.replace(spec, server=dataclasses.replace(spec.server, netserver_port=None))
    deployment = HttpDeployment(cluster=lab, spec=always, arm=deployment.arm, remove=lambda: None)
    assert deployment.netserver is None


def test_a_load_takes_the_clients_place(deployed: Make) -> None:
    deployment = deployed()
    client = deployment.client
    assert (client.node, client.network, client.path, client.keep_alive) == ("client", NETWORK, "/64", True)
    deployment.path, deployment.keep_alive = "/1024", False
    assert (deployment.client.path, deployment.client.keep_alive) == ("/1024", False)


def test_without_sidecars_there_is_a_server_alone(deployed: Make) -> None:
    assert deployed().node_types() == {
        "server": [f"{OF_SERVER}/server-server", f"{OF_SERVER}/server-round-trip"],
    }


def test_every_proxy_of_a_pod_is_the_meshs(deployed: Make, lab: Any) -> None:
    plane = ControlPlane(namespace="consul", manifests=None, program=None, deployments=("c",), configuration=None)
    deployment = deployed(sidecars=("consul-proxy", "consul-proxy-round-trip"), sidecar="consul-proxy", plane=plane)
    types = deployment.node_types()
    assert types == {
        "server": [f"{OF_SERVER}/server-server", f"{OF_SERVER}/server-round-trip"],
        "server_proxy": [f"{OF_SERVER}/server-consul-proxy", f"{OF_SERVER}/server-consul-proxy-round-trip"],
        "client_proxy": [f"{OF_CLIENT}/client-consul-proxy"],
    }
    lab.pods["consul"] = [
        {
            "metadata": {"name": "consul", "uid": "uid-consul"},
            "spec": {"nodeName": "server"},
            "status": {"qosClass": "Burstable"},
        }
    ]
    assert deployment.node_types() == {**types, "control_plane": ["nodes/server/kubepods/burstable/poduid-consul"]}


def test_a_proxy_may_be_an_init_container_that_stays(deployed: Make, lab: Any, populate: Make) -> None:
    populate(sidecars=("istio-proxy",))
    for pod in lab.pods["http"]:
        pod["status"]["initContainerStatuses"].append(pod["status"]["containerStatuses"].pop())
    types = deployed(sidecar="istio-proxy").node_types()
    assert types["server_proxy"] == [f"{OF_SERVER}/server-istio-proxy"]
    assert types["server"] == [f"{OF_SERVER}/server-server", f"{OF_SERVER}/server-round-trip"]  # init has ended


def test_pods_that_are_the_same_pass(deployed: Make) -> None:
    deployed().require_running()


def test_a_container_that_was_started_anew_is_told(deployed: Make, lab: Any) -> None:
    deployment = deployed()
    before = lab.pods["http"][0]
    lab.pods["http"][0] = {
        **before,
        "status": {
            **before["status"],
            "containerStatuses": [{**each, "restartCount": 1} for each in before["status"]["containerStatuses"]],
        },
    }
    with pytest.raises(
        PodChanged, match=r"the server's pod did not last: .*server: 0 restarts.* became .*server: 1 restarts"
    ):
        deployment.require_running()


def test_another_pod_in_its_place_is_told(deployed: Make, lab: Any) -> None:
    deployment = deployed()
    client = lab.pods["http"][1]
    lab.pods["http"][1] = {**client, "metadata": {**client["metadata"], "name": "client-another"}}
    with pytest.raises(PodChanged, match=r"the client's pod did not last: .*client-7d9f.* became .*client-another"):
        deployment.require_running()


@pytest.mark.parametrize("count", [0, 2])
def test_not_one_pod_is_told(deployed: Make, lab: Any, count: int) -> None:
    deployment = deployed()
    server, client = lab.pods["http"]
    lab.pods["http"] = [client, *[server] * count]
    with pytest.raises(PodChanged, match=f"the server's pod did not last: there are {count} of it"):
        deployment.require_running()


def test_a_client_without_a_process_is_told(deployed: Make, lab: Any, populate: Make) -> None:
    populate()
    (lab.cgroups.directories(f"{OF_CLIENT}/client-client")[0] / "cgroup.procs").write_text("")
    with pytest.raises(PodChanged, match="the client's pod did not last: no process of it runs"):
        deployed()


def test_it_is_taken_down_once(deployed: Make, lab: Any) -> None:
    deployment = deployed()
    deployment.close()
    deployment.close()
    assert lab.journal == ["x"]


def test_a_stranger_calls_the_pod_from_a_node(deployed: Make, lab: Any, http_server: Make, answering: Make) -> None:
    deployment = deployed()
    lab.pods["http"][0]["status"]["podIP"] = "127.0.0.1"
    assert deployment.plain_request(http_server().port) is None
    welcome = deployment.without_certificate(answering(b"no TLS").port)
    assert welcome.refusal is not None
    assert lab.opened == ["tare-test-client", "tare-test-client"]


@pytest.mark.skipif(os.geteuid() != 0, reason="a network of its own is root's to make")
def test_the_wire_is_watched_at_the_server_while_the_client_calls(
    deployed: Make, lab: Any, populate: Make, network: str, http_server: Make
) -> None:
    populate(process=int(network.split("/")[2]))
    lab.has_networks = True
    lab.service_address = "127.0.0.2"
    listening = lab.open_socket(network)
    listening.bind((lab.service_address, 0))
    listening.listen(64)
    server = http_server(listening)
    deployment = deployed(server.port, address="service")
    deployment.path = "/1024"
    seen = deployment.wire()
    assert seen.readable > 0
    assert seen.ports == {server.port}
    assert set(server.asked) == {"/1024 close"}
    assert set(lab.opened) == {network}
