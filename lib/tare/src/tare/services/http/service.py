"""Deploys arms: a mesh's control plane in a fresh state, then server and client; and takes all of it away again.

A mesh that is not under test is not there, so it can disturb nothing and nothing of one arm reaches the next.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import CommandFailed, NotReady, TareError
from tare.manifest import ControlPlane, Http, Level
from tare.process import Commands
from tare.progress import Progress
from tare.services.http import arms
from tare.services.http.arms import MeshArm
from tare.services.http.deployment import HttpDeployment
from tare.services.http.request import get

if TYPE_CHECKING:
    from tare.cluster import Cluster

_PROGRAM_SECONDS = 60.0
_REQUEST_SECONDS = 2.0
_REMOVE_SECONDS = 60.0
# A path is ready when so many requests in a row, each on a connection of its own, were answered: each of a proxy's
# threads learns of its routes by itself.
_ANSWERS = 5


class HttpService:
    """Deploys a server and a client as ``spec`` says, with an arm of one of the lab's meshes between them.

    Factors: ``arm`` when deploying, ``payload_bytes`` and ``connection`` when configuring.
    """

    def __init__(self, *, cluster: Cluster, spec: Http, commands: Commands, progress: Progress) -> None:
        self._cluster = cluster
        self._spec = spec
        self._commands = commands
        self._progress = progress
        # The control planes whose kinds are declared; they stay so, see ``_remove``.
        self._declared: set[str] = set()

    def deploy(self, levels: Mapping[str, Level]) -> HttpDeployment:
        """Bring an arm up; see ``Service``. What was made is taken down again if that fails."""
        arm = arms.find(self._cluster.manifest.meshes, levels.get(arms.ARM_FACTOR, "none"))
        try:
            return self._deploy(arm)
        except BaseException as error:
            if isinstance(error, TareError):
                error.add_note(self._states(arm))
            try:
                self._remove(arm)
            except TareError as problem:
                error.add_note(str(problem))
            raise

    def configure(self, deployment: HttpDeployment, levels: Mapping[str, Level]) -> None:
        """Set what is asked for, whether connections are kept, and which of the arms that share the deployment is
        called. Raises PodChanged for a deployment that ended, NotReady where the other arm's path answers nothing."""
        arm = arms.find(self._cluster.manifest.meshes, levels.get(arms.ARM_FACTOR, deployment.arm.name))
        if arm.name != deployment.arm.name:
            deployment.arm = arm
            self._wait_for_answers(deployment, time.monotonic() + self._spec.ready_timeout_seconds)
        deployment.path = arms.path(levels, self._spec.server.payload_bytes)
        deployment.keep_alive = arms.keep_alive(levels)
        deployment.require_running()

    def _deploy(self, arm: MeshArm) -> HttpDeployment:
        deadline = time.monotonic() + self._spec.ready_timeout_seconds
        plane = arm.mesh.control_plane
        if plane is not None:
            with self._progress.phase(f"control plane of {arm.mesh.title}"):
                self._start_control_plane(plane, deadline)
        with self._progress.phase("pods"):
            self._cluster.ensure_namespace(self._spec.namespace)
            self._apply(self._workload(arm), deadline)
            for name in ("server", "client"):
                self._cluster.wait_for(
                    "Ready", f"app={name}", namespace=self._spec.namespace, timeout_seconds=_left(deadline)
                )
        deployment = HttpDeployment(cluster=self._cluster, spec=self._spec, arm=arm, remove=lambda: self._remove(arm))
        with self._progress.phase("first requests"):
            self._wait_for_answers(deployment, deadline)
        return deployment

    def _start_control_plane(self, plane: ControlPlane, deadline: float) -> None:
        self._cluster.ensure_namespace(plane.namespace)
        manifests = [
            *([Path(plane.manifests).read_text()] if plane.manifests else []),
            *([self._printed(plane.program)] if plane.program else []),
        ]
        for text in manifests:
            self._apply(without_kinds(text) if plane.namespace in self._declared else text, deadline)
        self._declared.add(plane.namespace)
        for name in plane.deployments:
            self._cluster.wait_until_available(name, namespace=plane.namespace, timeout_seconds=_left(deadline))
        if plane.configuration is not None:
            self._apply(Path(plane.configuration).read_text(), deadline)

    def _workload(self, arm: MeshArm) -> str:
        if arm.arm.manifests is None:
            raise TareError(f"arm {arm.name}: its mesh {arm.mesh_name} is not on this machine; the arm cannot run")
        if arm.mesh.inject is None:
            return Path(arm.arm.manifests).read_text()
        return self._printed(arm.mesh.inject, arm.arm.manifests)

    def _printed(self, program: str, *arguments: str) -> str:
        return self._commands.run([program, *arguments], deadline_seconds=_PROGRAM_SECONDS).stdout

    def _apply(self, manifests: str, deadline: float) -> None:
        """Apply manifests, again while a webhook or a kind that was only just declared is not there yet."""

        def applied() -> str | None:
            try:
                self._cluster.apply(manifests)
            except CommandFailed as error:
                return error.stderr.strip()[-500:]
            return None

        self._cluster.wait_until("manifests", applied, timeout_seconds=_left(deadline))

    def _wait_for_answers(self, deployment: HttpDeployment, deadline: float) -> None:
        size = int(deployment.path.removeprefix("/"))

        def unanswered() -> str | None:
            for _ in range(_ANSWERS):
                body = get(deployment.open_socket, deployment.url, deployment.path, timeout_seconds=_REQUEST_SECONDS)
                if len(body) != size:
                    return f"GET {deployment.url}{deployment.path}: expected {size} bytes, found {len(body)}"
            return None

        self._cluster.wait_until(f"the path through {deployment.arm.name}", unanswered, timeout_seconds=_left(deadline))

    def _states(self, arm: MeshArm) -> str:
        """Return what the pods of an arm were doing."""
        try:
            return "\n".join(f"{name}: {self._cluster.pod_states(name)}" for name in self._namespaces(arm))
        except OSError as error:
            return f"the states of the pods are not known: {error}"

    def _remove(self, arm: MeshArm) -> None:
        """Take down what was made, and what the mesh itself has made, and wait until it is gone.

        What stays does nothing: empty namespaces, kinds of which there is no object, roles that nobody has.
        """
        try:
            self._cluster.empty(self._namespaces(arm), timeout_seconds=_REMOVE_SECONDS)
        except OSError as error:
            raise TareError(f"arm {arm.name} cannot be removed: {error}") from None

    def _namespaces(self, arm: MeshArm) -> list[str]:
        plane = arm.mesh.control_plane
        return [self._spec.namespace, *([plane.namespace] if plane else [])]


def without_kinds(manifests: str) -> str:
    """Return the documents of a YAML text but those that declare kinds. Pure."""
    documents = re.split(r"^---.*$", manifests, flags=re.MULTILINE)
    return "\n---\n".join(text for text in documents if not re.search(r"^kind: CustomResourceDefinition$", text, re.M))


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise NotReady("the arm", -left, "the time it may take is used up (services.http.readyTimeoutSeconds)")
    return left
