"""Arms that come up and go away, and those that do not come up: a mesh that is not ready never gives a figure."""

from __future__ import annotations

import dataclasses
import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tare.errors import CommandFailed, NotReady, TareError, UsageError
from tare.manifest import ControlPlane, Http
from tare.process import Commands
from tare.progress import PlainProgress
from tare.services.http import HttpDeployment, HttpService
from tare.services.http.deployment import PodChanged

Make = Callable[..., Any]

# As the API server answers while a webhook that was just declared does not serve yet.
NOT_YET = (
    'Error from server (InternalError): Internal error occurred: failed calling webhook "validation.istio.io": '
    "failed to call webhook: Post: dial tcp 198.19.80.1:443: connect: connection refused"
)
LEVELS = {"arm": "mesh-l4-mtls"}


def program(folder: Path, name: str, source: str) -> str:
    """Return a program that Python runs."""
    file = folder / name
    file.write_text(f"#!{sys.executable}\n{source}")
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def manifests(tmp_path: Path) -> Callable[[str], str]:
    """Writes a file of manifests that consists of its name."""

    def write(name: str) -> str:
        (tmp_path / name).write_text(f"{name} objects")
        return str(tmp_path / name)

    return write


@pytest.fixture
def service(lab: Any, spec: Http, make_arm: Make, populate: Make) -> Make:
    """Makes the service of a lab with one mesh. Its pods are there once ``workload`` is applied."""

    def make(
        port: int = 1, *, workload: str | None, has_pods: bool = True, patience_seconds: float = 30.0, **how: Any
    ) -> HttpService:
        found = make_arm(port, manifests=workload, **how)
        lab.manifest = SimpleNamespace(meshes={"mesh": found.mesh})
        applied = lab.on_apply

        def on_apply(text: str) -> None:
            applied(text)
            if has_pods and "workload objects" in text:
                populate()

        lab.on_apply = on_apply
        patient = dataclasses.replace(spec, ready_timeout_seconds=patience_seconds)
        return HttpService(cluster=lab, spec=patient, commands=Commands(), progress=PlainProgress(io.StringIO()))

    return make


def plane(**how: Any) -> ControlPlane:
    given = {"manifests": None, "program": None, "deployments": ("istiod",), "configuration": None, **how}
    return ControlPlane(namespace="istio-system", **given)


def test_an_arm_is_up_when_its_client_was_answered_five_times(
    service: Make, lab: Any, manifests: Make, http_server: Make
) -> None:
    server = http_server()
    made = service(
        server.port,
        workload=manifests("workload"),
        plane=plane(manifests=manifests("plane"), configuration=manifests("meshes")),
    )
    deployment = made.deploy(LEVELS)
    assert isinstance(deployment, HttpDeployment)
    assert lab.journal == [
        "namespace istio-system",
        "wait for manifests",
        "apply plane objects",
        "wait for deployment istio-system/istiod",
        "wait for manifests",
        "apply meshes objects",
        "namespace http",
        "wait for manifests",
        "apply workload objects",
        "wait for Ready http/app=server",
        "wait for Ready http/app=client",
        "wait for the path through mesh-l4-mtls",
    ]
    assert server.asked == ["/64 close"] * 5  # each on a connection of its own


def test_the_workload_is_what_the_mesh_makes_of_it(
    service: Make, lab: Any, manifests: Make, http_server: Make, tmp_path: Path
) -> None:
    inject = program(tmp_path, "inject", "import sys\nprint(open(sys.argv[1]).read() + ' and sidecars')")
    control_plane = program(tmp_path, "control-plane", "print('fresh certificates')")
    made = service(
        http_server().port, workload=manifests("workload"), inject=inject, plane=plane(program=control_plane)
    )
    made.deploy(LEVELS)
    assert "apply workload objects and sidecars\n" in lab.journal
    assert "apply fresh certificates\n" in lab.journal


def test_what_a_webhook_refuses_at_first_is_applied_again(
    service: Make, lab: Any, manifests: Make, http_server: Make
) -> None:
    attempts: list[str] = []

    def refuse_twice(text: str) -> None:
        attempts.append(text)
        if text == "meshes objects" and attempts.count(text) < 3:
            raise CommandFailed(["kubectl", "apply"], 1, "", NOT_YET)

    lab.on_apply = refuse_twice
    made = service(http_server().port, workload=manifests("workload"), plane=plane(configuration=manifests("meshes")))
    made.deploy(LEVELS)
    assert attempts.count("meshes objects") == 3


def fails(made: HttpService, error: type[TareError], message: str) -> TareError:
    """Return the fault that keeps the arm from being measured: one of the infrastructure, and not a deployment."""
    with pytest.raises(error, match=message) as caught:
        made.deploy(LEVELS)
    assert caught.value.exit_code == 3
    return caught.value


def test_a_control_plane_that_is_not_available_is_no_sample(service: Make, lab: Any, manifests: Make) -> None:
    lab.not_available = frozenset({"istiod"})
    workload = manifests("workload")
    error = fails(service(workload=workload, plane=plane()), NotReady, "deployment istiod not ready after")
    assert error.__notes__ == ["http: no pod\nistio-system: no pod"]
    assert "apply workload objects" not in lab.journal
    # It was begun, so it is taken away again.
    assert lab.journal[-1] == "empty http istio-system"


def test_manifests_that_are_never_taken_are_no_sample(service: Make, lab: Any, manifests: Make) -> None:
    def refuse(text: str) -> None:
        if "objects" in text:
            raise CommandFailed(["kubectl", "apply"], 1, "", NOT_YET)

    lab.on_apply = refuse
    made = service(workload=manifests("workload"), patience_seconds=1.0)
    fails(made, NotReady, "manifests not ready .* connect: connection refused")


def test_a_path_on_which_nobody_answers_is_no_sample(service: Make, lab: Any, manifests: Make) -> None:
    error = fails(
        service(1, workload=manifests("workload"), patience_seconds=1.0),
        NotReady,
        r"the path through mesh-l4-mtls not ready after \d\.\d s; last seen: .*Connection refused",
    )
    assert error.__notes__ == ["http: server-7d9f: Running; client-7d9f: Running"]
    assert lab.journal[-1] == "empty http"
    assert lab.pods == {}


def test_a_path_that_answers_with_an_error_is_no_sample(service: Make, manifests: Make, answering: Make) -> None:
    server = answering(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 19\r\n\r\nno healthy upstream")
    made = service(server.port, workload=manifests("workload"), patience_seconds=1.0)
    fails(made, NotReady, "last seen: GET .*/64: status 503 'no healthy upstream'")


def test_an_answer_of_another_length_is_no_sample(service: Make, manifests: Make, answering: Make) -> None:
    server = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntare")
    made = service(server.port, workload=manifests("workload"), patience_seconds=1.0)
    fails(made, NotReady, "last seen: GET .*/64: expected 64 bytes, found 4")


def test_a_pod_that_is_not_there_is_no_sample(service: Make, manifests: Make) -> None:
    made = service(workload=manifests("workload"), has_pods=False)
    fails(made, PodChanged, "the server's pod did not last: there are 0 of it")


def test_a_mesh_that_is_not_on_this_machine_is_no_sample(service: Make) -> None:
    fails(service(workload=None), TareError, "arm mesh-l4-mtls: its mesh mesh is not on this machine")


def test_a_program_that_fails_is_no_sample(service: Make, manifests: Make, tmp_path: Path) -> None:
    inject = program(tmp_path, "inject", "raise SystemExit('no such template')")
    fails(service(workload=manifests("workload"), inject=inject), CommandFailed, "exit code 1: .*\nno such template")


def test_time_that_is_used_up_names_the_option(service: Make, manifests: Make) -> None:
    made = service(workload=manifests("workload"), patience_seconds=0.0)
    fails(made, NotReady, r"the arm not ready .*used up \(services\.http\.readyTimeoutSeconds\)")


def test_states_that_are_not_known_do_not_hide_the_fault(
    service: Make, lab: Any, manifests: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(namespace: str) -> str:
        raise ConnectionRefusedError("the API server is gone")

    made = service(1, workload=manifests("workload"), patience_seconds=1.0)
    monkeypatch.setattr(lab, "pod_states", unreachable)
    error = fails(made, NotReady, "the path through mesh-l4-mtls")
    assert error.__notes__ == ["the states of the pods are not known: the API server is gone"]


def test_an_arm_that_is_unknown_changes_nothing(service: Make, lab: Any) -> None:
    with pytest.raises(UsageError, match=r"expected an arm of one of the lab's meshes \(mesh-l4-mtls\), found 'none'"):
        service(workload=None).deploy({})
    assert lab.journal == []


def test_what_cannot_be_removed_does_not_hide_the_fault(service: Make, lab: Any, manifests: Make) -> None:
    lab.cannot_be_emptied = "the API server is gone"
    error = fails(service(1, workload=manifests("workload"), patience_seconds=1.0), NotReady, "the path through mesh")
    assert error.__notes__[-1] == "arm mesh-l4-mtls cannot be removed: the API server is gone"


def test_an_arm_goes_with_its_control_plane(service: Make, lab: Any, manifests: Make, http_server: Make) -> None:
    deployment = service(http_server().port, workload=manifests("workload"), plane=plane()).deploy(LEVELS)
    lab.journal.clear()
    deployment.close()
    assert lab.journal == ["empty http istio-system"]


def test_what_cannot_be_removed_is_told(service: Make, lab: Any, manifests: Make, http_server: Make) -> None:
    deployment = service(http_server().port, workload=manifests("workload")).deploy(LEVELS)
    lab.journal.clear()
    lab.cannot_be_emptied = "the API server is gone"
    with pytest.raises(TareError, match="arm mesh-l4-mtls cannot be removed: the API server is gone"):
        deployment.close()
    assert lab.journal == ["empty http"]


def test_kinds_are_declared_once(service: Make, lab: Any, manifests: Make, http_server: Make, tmp_path: Path) -> None:
    kinds, others = "kind: CustomResourceDefinition\nmetadata: {name: meshes}", "kind: Deployment"
    (tmp_path / "plane").write_text(f"{kinds}\n---\n{others}\n")
    made = service(http_server().port, workload=manifests("workload"), plane=plane(manifests=str(tmp_path / "plane")))
    for _ in range(2):
        made.deploy(LEVELS).close()
    first, again = (line for line in lab.journal if line.startswith("apply") and others in line)
    assert kinds in first
    assert kinds not in again


def test_factors_of_a_run_change_what_is_asked_for(service: Make, lab: Any, manifests: Make, http_server: Make) -> None:
    made = service(http_server().port, workload=manifests("workload"))
    deployment = made.deploy(LEVELS)
    made.configure(deployment, {"payload_bytes": 1024, "connection": "close"})
    assert (deployment.client.path, deployment.client.keep_alive) == ("/1024", False)
    lab.pods["http"].pop(0)
    with pytest.raises(PodChanged, match="the server's pod did not last"):
        made.configure(deployment, {"payload_bytes": 64})


@pytest.fixture
def shared(service: Make, lab: Any, manifests: Make, http_server: Make) -> Make:
    """Deploys an arm whose mesh has another, mesh-l7-mtls, which differs in the port alone."""

    def deploy(port: int) -> tuple[HttpService, HttpDeployment]:
        made = service(http_server().port, workload=manifests("workload"), patience_seconds=1.0)
        mesh = lab.manifest.meshes["mesh"]
        ours = mesh.arms["mesh-l4-mtls"]
        other = dataclasses.replace(ours, layer="l7", call=dataclasses.replace(ours.call, port=port))
        lab.manifest.meshes["mesh"] = dataclasses.replace(mesh, arms={**mesh.arms, "mesh-l7-mtls": other})
        return made, made.deploy(LEVELS)

    return deploy


def test_an_arm_that_shares_the_deployment_is_called_once_it_answers(shared: Make, http_server: Make) -> None:
    other = http_server()
    made, deployment = shared(other.port)
    made.configure(deployment, {"arm": "mesh-l7-mtls", "payload_bytes": 1024})
    assert (deployment.arm.name, deployment.url, deployment.path) == ("mesh-l7-mtls", other.url, "/1024")
    assert other.asked == ["/64 close"] * 5
    made.configure(deployment, {"arm": "mesh-l7-mtls"})
    assert len(other.asked) == 5  # it is the same arm still


def test_an_arm_that_shares_the_deployment_and_does_not_answer_is_no_sample(shared: Make) -> None:
    made, deployment = shared(1)
    with pytest.raises(NotReady, match=r"the path through mesh-l7-mtls not ready .*Connection refused"):
        made.configure(deployment, {"arm": "mesh-l7-mtls"})
