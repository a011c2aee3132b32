"""A Kubernetes cluster on this machine: brought up by steps that overlap, taken down by its ledger."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from tare.cgroup import CgroupTree
from tare.cluster import bring_up, control_plane, emptying, images, runtime_classes
from tare.cluster import layout as layouts
from tare.cluster.api import Api, Object, describe_pods, is_true, wait_until
from tare.cluster.layout import Layout
from tare.cluster.network import NameTaken, open_socket
from tare.cluster.node import ClusterNode
from tare.cluster.steps import running
from tare.cluster.supervision import CGROUP as SUPERVISOR_CGROUP
from tare.cluster.teardown import tear_down
from tare.errors import TareError, UsageError
from tare.ledger import Ledger
from tare.machine import Machine
from tare.manifest import Manifest
from tare.process import Argument, Commands, Completed
from tare.progress import Progress
from tare.state import DEFAULT_ROOT, KEPT, StateDirectory

NEEDS = (
    "root",
    "cgroup",
    "network-namespaces",
    "mount-namespaces",
    "overlayfs",
    "veth",
    "bridge",
    "netfilter",
    "disk-space",
)
KUBECTL = "kubectl"  # the fact that holds the arguments before kubectl's own, as a JSON list
_IDENTITY = "identity"
_IN_USE = "in-use"
_SPACE = "the state directory has to be on a file system of Linux with some GiB free, see TARE_STATE_DIR"
_FULL_BYTES = 4 << 20
_APPLY_SECONDS = 60.0
_DELETE_SECONDS = 120.0


class Cluster:
    """A context manager: enter brings the cluster up, exit takes it down, unless ``keep`` leaves it.

    A cluster that was kept is used as it is if the lab is still the same, and stays up. What a
    command that died has left is removed first. ``cgroups`` is the lab's cgroup tree, ``seconds``
    tells when each step of the bring-up began and ended.
    """

    def __init__(
        self,
        *,
        manifest: Manifest,
        state: StateDirectory,
        commands: Commands,
        machine: Machine,
        progress: Progress,
        keep: bool = False,
    ) -> None:
        self.manifest = manifest
        self._state = state
        self._commands = commands
        self._machine = machine
        self._progress = progress
        self._keep = keep
        self._owned = ExitStack()
        self._ledger: Ledger | None = None
        self._making = False
        self.seconds: dict[str, tuple[float, float]] = {}

    @functools.cached_property
    def _layout(self) -> Layout:
        return layouts.plan(self.manifest, self._state, self._commands, self._machine)

    @functools.cached_property
    def _api(self) -> Api:
        return bring_up.api(self._layout)

    @property
    def cgroups(self) -> CgroupTree:
        return self._layout.tree

    @functools.cached_property
    def nodes(self) -> Mapping[str, ClusterNode]:
        return {name: setup.node for name, setup in self._layout.nodes.items()}

    @functools.cached_property
    def image_digests(self) -> Mapping[str, str]:
        return {name: image.digest for name, image in images.read(self.manifest.images).items()}

    def runtime_levels(self) -> Mapping[str, str | None]:
        """Return for each runtime of the lab None if it can run here, else the reason why not."""
        return runtime_classes.levels(self.manifest.runtimes, self._machine)

    def host_path(self, node: str, path: str) -> Path:
        """Return the place on this machine of an absolute path that a node sees, below /var/lib or /run."""
        return self._layout.nodes[node].view.host(path)

    def run_on_node(self, node: str, argv: Sequence[Argument], *, deadline_seconds: float) -> Completed:
        """Run a program as the node's daemons run, and return what it printed and its exit code, whichever.

        Raises CommandTimeout, ProgramMissing.
        """
        setup = self._layout.nodes[node]
        return self._run(setup.among_daemons(argv), setup.environment, deadline_seconds)

    def run_on_control_plane(self, argv: Sequence[Argument], *, deadline_seconds: float) -> Completed:
        """Run a program in the control plane's cgroup and network, with the machine's files; see ``run_on_node``."""
        layout = self._layout
        within = layout.network.within(layout.network.control_plane, argv)
        entering = layout.tree.entering(control_plane.CGROUP, (layout.tools["busybox"], "sh"), within)
        return self._run(entering, next(iter(layout.nodes.values())).environment, deadline_seconds)

    def _run(self, argv: Sequence[str], environment: Mapping[str, str], deadline_seconds: float) -> Completed:
        return self._commands.run(argv, env=environment, deadline_seconds=deadline_seconds, check=False)

    def kubectl(self, *arguments: str, stdin: str | None = None, deadline_seconds: float = 30) -> str:
        """Run the pinned kubectl as the cluster's administrator and return what it prints. Raises CommandFailed."""
        argv = [*self._layout.kubectl, *arguments]
        return self._commands.run(argv, stdin=stdin, deadline_seconds=deadline_seconds).stdout

    def apply(self, objects: Sequence[Object] | str) -> None:
        """Make the objects (or those in a text), or change them to what is given. Raises CommandFailed."""
        arguments = ("apply", "--server-side", "--force-conflicts", "--field-manager=tare", "--filename=-")
        self.kubectl(*arguments, stdin=_as_list(objects), deadline_seconds=_APPLY_SECONDS)

    def delete(self, objects: Sequence[Object]) -> None:
        """Delete the objects and wait until they are gone; gone already is fine. Raises CommandFailed."""
        arguments = ("delete", "--ignore-not-found", "--wait", f"--timeout={_DELETE_SECONDS:.0f}s", "--filename=-")
        self.kubectl(*arguments, stdin=_as_list(objects), deadline_seconds=_DELETE_SECONDS + 10)

    def ensure_namespace(self, name: str) -> None:
        """Make a namespace unless it is there. Raises TareError."""
        try:
            self._api.get(f"/api/v1/namespaces/{quote(name)}")
        except FileNotFoundError:
            self.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}])
        except OSError as error:
            raise TareError(f"namespace {name}: {error}") from None

    def empty(self, namespaces: Sequence[str], *, timeout_seconds: float) -> None:
        """Delete everything in namespaces, which stay, with all webhooks and all that is of kinds that were declared;
        end the pods' processes, and wait until no pod is left. Raises OSError, CgroupError, NotReady.
        """
        emptying.withdraw_extensions(self._api)
        emptying.empty(self._api, namespaces)

        def pods() -> list[Object]:
            return [pod for name in namespaces for pod in self.get("pods", name)]

        # Some take many seconds to hand over to nobody, whatever grace they are given.
        for pod in pods():
            if node := pod["spec"].get("nodeName"):
                self.cgroups.kill(self.nodes[node].pod_cgroup(pod))

        def left() -> str | None:
            found = pods()
            return describe_pods(found) if found else None

        wait_until("the removal of pods", left, timeout_seconds=timeout_seconds)

    def get(self, kind: str, namespace: str = "", selector: str = "") -> list[Object]:
        """Return the objects of a kind of the API's core group ("nodes", "pods", ...). Raises OSError."""
        within = f"namespaces/{quote(namespace)}/" if namespace else ""
        items: list[Object] = self._api.get(f"/api/v1/{within}{kind}?labelSelector={quote(selector)}")["items"]
        return items

    def wait_for(self, condition: str, selector: str, *, namespace: str = "default", timeout_seconds: float) -> None:
        """Wait until all pods that ``selector`` (of labels) names, at least one, have a condition such as "Ready".

        Raises NotReady, which says what each pod waits for.
        """

        def missing() -> str | None:
            pods = self.get("pods", namespace, selector)
            left = [pod for pod in pods if not is_true(pod, condition)]
            return describe_pods(left) if left or not pods else None

        wait_until(f"pods with {selector}", missing, timeout_seconds=timeout_seconds, interval_seconds=0.1)

    def pod_states(self, namespace: str) -> str:
        """Return in one line what keeps the pods of a namespace from being ready. Raises OSError."""
        return describe_pods(self.get("pods", namespace))

    def wait_until(self, what: str, look: Callable[[], str | None], *, timeout_seconds: float) -> None:
        """Call ``look`` until it returns None; a text is what is still missing, and so is OSError's.

        Raises NotReady with the last text.
        """
        wait_until(what, look, timeout_seconds=timeout_seconds, interval_seconds=0.1)

    def open_socket(
        self, network: str, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM, protocol: int = -1
    ) -> socket.socket:
        """Return a socket in the network namespace that ``network`` is the file of. Raises OSError."""
        return open_socket(network, family, kind, protocol)

    def wait_until_available(self, deployment: str, *, namespace: str, timeout_seconds: float) -> None:
        """Wait until a deployment has the pods it asks for. Raises NotReady, which says what they wait for."""
        path = f"/apis/apps/v1/namespaces/{quote(namespace)}/deployments/{quote(deployment)}"

        def missing() -> str | None:
            if is_true(self._api.get(path), "Available"):
                return None
            return describe_pods(self.get("pods", namespace))

        wait_until(f"deployment {deployment}", missing, timeout_seconds=timeout_seconds, interval_seconds=0.1)

    def __enter__(self) -> Cluster:
        require(self._machine, self._state.lab)
        layout = self._layout
        self._owned.enter_context(self._state.own())
        try:
            if self._attach():
                self._keep = True
                self._progress.note(f"{self._state.lab} is up already and is used as it is")
            else:
                self._clear()
                self._bring_up(layout)
            self._set_fact(_IN_USE, "yes")
        except (OSError, TareError) as error:
            told = self._explain(error)
            self._abandon(told)
            raise told from error.__cause__ if told is error else error
        except BaseException as error:
            self._abandon(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._keep:
                self._set_fact(_IN_USE, "no")
                self._set_fact(KEPT, "yes")
                self._close_ledger()
            else:
                with self._progress.phase("take the cluster down"):
                    self._remove()
        finally:
            self._close_ledger()
            self._owned.close()

    def _attach(self) -> bool:
        """Return whether a cluster of this very lab was kept, is not in the middle of a run that died, and works."""
        if not self._state.kept_up():
            return False
        ledger = Ledger(self._state.ledger_path)
        self._ledger = ledger
        if ledger.fact(_IDENTITY) != self._identity() or ledger.fact(_IN_USE) == "yes":
            return False
        try:
            self._api.get("/readyz")
            return all(is_true(node, "Ready") for node in self.get("nodes"))
        except OSError:
            return False

    def _clear(self) -> None:
        """Remove what an earlier command has left, and own the lab anew, for its lock goes with the rest."""
        self._close_ledger()
        if not self._state.ledger_path.exists():
            return
        self._progress.note(f"removing what an earlier run of {self._state.lab} has left")
        with self._progress.phase("remove what is left over"):
            tear_down(self._state, self._progress)
        self._owned.close()
        self._owned.enter_context(self._state.own())

    def _bring_up(self, layout: Layout) -> None:
        if layout.tree.exists():
            mend = f"find /sys/fs/cgroup -depth -type d -path '*/{layout.tree.name}*' -exec rmdir {{}} +"
            raise NameTaken(f"the cgroup {layout.tree.name}", mend)
        self._making = True
        self._ledger = Ledger(self._state.ledger_path)
        self._ledger.set_fact(_IDENTITY, self._identity())
        self._ledger.set_fact(KUBECTL, json.dumps(layout.kubectl))
        # Removed in the reverse order: first what runs, the supervisor before what it would start again.
        if self._state.made_root or self._state.root == DEFAULT_ROOT:
            self._ledger.record("root", str(self._state.root))
        self._ledger.record("cgroup", "")
        layout.network.claim(self._ledger)
        self._ledger.record("mounts", str(self._state.path))
        self._ledger.record("processes", "")
        self._ledger.record("processes", SUPERVISOR_CGROUP)
        layout.nodes_directory.mkdir(mode=0o700)
        stop = threading.Event()
        with running(bring_up.prepare(layout, apply=self.apply, stop=stop).steps(), stop) as under_way:
            self.seconds = under_way.seconds
            try:
                for phase, step in (
                    ("control plane", "api-server"),
                    ("nodes", "nodes"),
                    ("DNS", "dns"),
                    ("images", "images"),
                ):
                    with self._progress.phase(phase):
                        under_way.wait_for(step)
            except BaseException:
                # What still runs in the other threads waits for these processes: let it fail at once.
                stop.set()
                layout.tree.kill()
                raise
        layout.tree.make(control_plane.CGROUP, cpu_shares=control_plane.CPU_SHARES)

    def _explain(self, error: OSError | TareError) -> TareError:
        """Return what to tell the user: programs that run out of disk say so in many ways, or say something else."""
        free = shutil.disk_usage(self._state.path).free if self._state.exists() else _FULL_BYTES
        if free < _FULL_BYTES:
            return TareError(f"{self._state.path}: no space left on device ({free >> 10} KiB free); {_SPACE}\n{error}")
        if isinstance(error, OSError):
            return TareError(f"{error.filename or self._state.path}: {error.strerror}; {_SPACE}")
        return error

    def _abandon(self, error: BaseException) -> None:
        """Take down what a failed bring-up has made. What cannot be removed is added to the error that counts."""
        try:
            if self._making or not self._state.ledger_path.exists():
                self._remove()
        except TareError as problem:
            error.add_note(str(problem))
        finally:
            self._close_ledger()
            self._owned.close()

    def _remove(self) -> None:
        self._close_ledger()
        tear_down(self._state, self._progress)
        if "_layout" in self.__dict__:
            self._layout.supervisor.reap()

    def _set_fact(self, name: str, value: str) -> None:
        if self._ledger is None:
            self._ledger = Ledger(self._state.ledger_path)
        self._ledger.set_fact(name, value)

    def _close_ledger(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def _identity(self) -> str:
        """Return what has to be the same for a kept cluster to be this one."""
        return hashlib.sha256(repr((self.manifest, self._machine.cpus)).encode()).hexdigest()


def require(machine: Machine, lab: str) -> None:
    """Raise UsageError that names everything the machine lacks for a cluster, and how to go on."""
    lacking = machine.lacks(NEEDS)
    if not lacking:
        return
    if lacking[0].name == "root":
        raise UsageError(
            "the embedded cluster makes network namespaces, mounts and cgroups, which only root may: "
            f"run it as root, for example `sudo ./tare run {lab}`"
        )
    listed = "\n".join(f"  {capability.name}: {capability.detail}" for capability in lacking)
    raise UsageError(f"this machine cannot hold a cluster:\n{listed}")


def kubectl_argv(state: StateDirectory, arguments: Sequence[str]) -> list[str]:
    """Return the arguments that run kubectl against a lab that is up, whoever owns it. Raises UsageError if none is."""
    prefix = None
    if state.ledger_path.exists():
        with Ledger(state.ledger_path) as ledger:
            prefix = ledger.fact(KUBECTL)
    if prefix is None:
        raise UsageError(f"{state.lab} is not up; `tare up {state.lab}` brings it up")
    return [*json.loads(prefix), *arguments]


def _as_list(objects: Sequence[Object] | str) -> str:
    if isinstance(objects, str):
        return objects
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
