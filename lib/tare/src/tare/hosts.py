"""testinfra's hosts for a lab's nodes and pods, so that a test can check its lab before it measures.

A check runs where what it checks runs, with the lab's own pinned tools. A node: in its network, its view of the
machine and its cgroup, by busybox's shell; the programs on the node's path (ss, ip, ...) come first. A pod: in the
namespaces of its container, by the same shell, which the image need not have; what is in a sandbox of its own (gVisor,
Kata) is reached by kubectl, and its image has to have a shell. Output is text: of a binary file, ask the checksum.
"""

from __future__ import annotations

import os
import pwd
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testinfra.backend.base import BaseBackend, CommandResult
from testinfra.host import Host
from testinfra.modules.process import Process

from tare.cluster import Cluster
from tare.cluster.control_plane import CGROUP as CONTROL_PLANE
from tare.errors import CommandFailed, TareError, UsageError
from tare.process import Completed

DEADLINE_SECONDS = 30.0
_IN_CONTAINERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NOT_FOUND = 127  # the exit code of POSIX's shell for a program that is not there
# Keeps the folder of busybox open across the change of the root folder, and runs it from there.
_CARRY = 'exec 9<"$1"; shift; exec "$@"'
_CARRIED = "/proc/self/fd/9"
_ENDED = "command terminated with exit code "  # kubectl's last line when it was the program that failed


class CheckFailed(TareError):
    """A check could not be made; what it would have found is not known."""

    def __init__(self, place: str, problem: str) -> None:
        self.place = place
        super().__init__(f"{place}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A node or a pod of the lab. ``host`` is testinfra's: ``place.host.socket("tcp://10250").is_listening``."""

    name: str
    host: Host


class LabHosts:
    """The hosts of a cluster that is up; each is made when it is first asked for."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._places: dict[str, Place] = {}

    @property
    def control_plane(self) -> Place:
        """Where etcd, the API server, the controller manager and the scheduler run; its files are the machine's."""
        return self._place("the control plane", self._of_control_plane)

    def node(self, name: str) -> Place:
        """Return a node. Raises UsageError for a name the lab does not have."""
        if name not in self._cluster.nodes:
            raise UsageError(f"node {name!r}: the lab has {', '.join(sorted(self._cluster.nodes))}")
        return self._place(f"node {name}", lambda place: self._of_node(place, name))

    def pod(self, name: str, *, namespace: str = "default", container: str | None = None) -> Place:
        """Return a container of a pod, by default its first. Raises UsageError for one that is not running.

        It is that very container: after a restart, ask for it anew.
        """
        pods = self._cluster.get("pods", namespace)
        found = [pod for pod in pods if pod["metadata"]["name"] == name]
        if not found:
            there = ", ".join(sorted(pod["metadata"]["name"] for pod in pods)) or "none"
            raise UsageError(f"pod {name!r}: the pods of the namespace {namespace!r} are: {there}")
        states = {state["name"]: state for state in found[0]["status"].get("containerStatuses", ())}
        wanted = container or found[0]["spec"]["containers"][0]["name"]
        if "running" not in states.get(wanted, {}).get("state", {}):
            running = ", ".join(sorted(each for each in states if "running" in states[each]["state"])) or "none"
            raise UsageError(f"pod {name}: container {wanted!r} does not run; those that do: {running}")
        identity = states[wanted]["containerID"].rpartition("/")[2]
        # A container that was restarted is another place.
        return self._place(
            f"pod {name}, container {wanted}",
            lambda place: self._of_container(place, found[0], namespace, wanted, identity),
            key=identity,
        )

    def _place(self, name: str, make: Callable[[str], Host], key: str | None = None) -> Place:
        key = key or name
        if key not in self._places:
            self._places[key] = Place(name=name, host=make(name))
        return self._places[key]

    def _of_control_plane(self, place: str) -> Host:
        def run(line: str) -> Completed:
            return self._cluster.run_on_control_plane(self._shell(line), deadline_seconds=DEADLINE_SECONDS)

        return _host(place, run, self._pids(CONTROL_PLANE), self._cluster.manifest.node_path)

    def _of_node(self, place: str, name: str) -> Host:
        def run(line: str) -> Completed:
            return self._cluster.run_on_node(name, self._shell(line), deadline_seconds=DEADLINE_SECONDS)

        return _host(place, run, self._pids(self._cluster.nodes[name].cgroup), self._cluster.manifest.node_path)

    def _of_container(self, place: str, pod: Mapping[str, Any], namespace: str, container: str, identity: str) -> Host:
        node = self._cluster.nodes[pod["spec"]["nodeName"]]
        cgroup = f"{node.pod_cgroup(pod)}/{identity}"
        pids = self._cluster.cgroups.processes(cgroup)
        if not pids:  # a sandbox keeps its containers to itself
            name = pod["metadata"]["name"]
            return _host(place, lambda line: self._by_kubectl(place, name, namespace, container, line))
        tools = self._cluster.manifest.tools
        enter = [tools["nsenter"], f"--target={min(pids)}", "--mount", "--net", "--pid", "--uts", "--ipc", "--"]
        busybox = Path(tools["busybox"])
        carry = [str(busybox), "sh", "-c", _CARRY, "sh", str(busybox.parent), *enter, f"{_CARRIED}/{busybox.name}"]

        def run(line: str) -> Completed:
            argv = [*carry, "sh", "-c", f"PATH={_IN_CONTAINERS}\n{line}"]
            return self._cluster.run_on_node(node.name, argv, deadline_seconds=DEADLINE_SECONDS)

        return _host(place, run, self._pids(cgroup))

    def _by_kubectl(self, place: str, name: str, namespace: str, container: str, line: str) -> Completed:
        argv = ["exec", name, f"--namespace={namespace}", f"--container={container}", "--", "/bin/sh", "-c", line]
        began = time.monotonic()
        try:
            code, out, err = 0, self._cluster.kubectl(*argv, deadline_seconds=DEADLINE_SECONDS), ""
        except CommandFailed as error:
            code, out = error.returncode, error.stdout
            err, ended, _ = error.stderr.rpartition(_ENDED)
            if not ended:
                hint = ""
                if "/bin/sh" in error.stderr:
                    hint = "; its image has no shell, so nothing can be asked inside of its sandbox"
                raise CheckFailed(place, f"kubectl exec: {error.stderr.strip()[-500:]}{hint}") from error
        return Completed(argv=tuple(argv), returncode=code, stdout=out, stderr=err, seconds=time.monotonic() - began)

    def _shell(self, line: str) -> list[str]:
        return [self._cluster.manifest.tools["busybox"], "sh", "-c", line]

    def _pids(self, cgroup: str) -> Callable[[], set[int]]:
        return lambda: self._cluster.cgroups.processes(cgroup)


class _Backend(BaseBackend):
    """Runs testinfra's command lines by a function."""

    NAME = "tare"

    def __init__(self, place: str, run: Callable[[str], Completed]) -> None:
        super().__init__(place)
        self._run = run
        self._encoding = "utf-8"  # otherwise asked of the host's Python

    def run(self, command: str, *args: str, **kwargs: Any) -> CommandResult:
        # File.listdir's; busybox's ls has no -q, which is for terminals.
        line = self.get_command(command.replace("ls -1 -q ", "ls -1 "), *args)
        done = self._run(line)
        return self.result(done.returncode, line.encode(), done.stdout, done.stderr)


class _Host(Host):
    """testinfra's host with the lab's programs before the shell's own, and words for a program that is not there."""

    def __init__(self, backend: BaseBackend, path: tuple[str, ...], processes: Processes | None) -> None:
        super().__init__(backend)
        self._path = ":".join(path)
        if processes is not None:  # testinfra's own module would list every process of the machine
            self.process = processes

    def find_command(self, command: str, *args: Any, **kwargs: Any) -> str:
        # busybox's shell has commands of its own (ip, mount) and takes them for what its path has.
        return shutil.which(command, path=self._path) or super().find_command(command, *args, **kwargs)

    def run_expect(self, expected: list[int], command: str, *args: str, **kwargs: Any) -> CommandResult:
        __tracebackhide__ = True
        found = super().run_expect([*expected, _NOT_FOUND], command, *args, **kwargs)
        if found.rc == _NOT_FOUND and _NOT_FOUND not in expected:
            problem = found.stderr.strip() or "a program is not there"
            raise CheckFailed(
                self.backend.get_hostname(),
                f"testinfra asks by `{found.command.decode()}`: {problem}; check it in another way",
            )
        return found

    def check_output(self, command: str, *args: str, **kwargs: Any) -> str:
        __tracebackhide__ = True
        return self.run_expect([0], command, *args, **kwargs).stdout.rstrip("\r\n")


def _host(
    place: str,
    run: Callable[[str], Completed],
    pids: Callable[[], set[int]] | None = None,
    path: tuple[str, ...] = (),
) -> Host:
    """Return a host. ``pids`` gives its processes, where they are this machine's too."""
    backend = _Backend(place, run)
    host = _Host(backend, path, Processes(pids) if pids else None)
    backend.set_host(host)
    return host


class Processes(Process):
    """testinfra's ``process``, of a cgroup, read from /proc. ``pid`` and ``ppid`` are the machine's."""

    def __init__(self, pids: Callable[[], set[int]]) -> None:
        super().__init__()
        self._pids = pids

    def _get_processes(self, **filters: Any) -> list[dict[str, Any]]:
        unknown = sorted(set(filters) - set(_ATTRIBUTES))
        if unknown:
            raise UsageError(f"process: no attribute {', '.join(unknown)}; there are {', '.join(_ATTRIBUTES)}")
        found = []
        for pid in sorted(self._pids()):
            try:
                found.append(_process(Path("/proc", str(pid))))
            except (FileNotFoundError, ProcessLookupError):  # it has ended
                continue
        return found

    def _get_process_attribute_by_pid(self, pid: int, name: str) -> dict[str, Any]:
        raise UsageError(f"process: no attribute {name}; there are {', '.join(_ATTRIBUTES)}")


# Named as ps does, and in its units: sizes in KiB.
_ATTRIBUTES = ("pid", "ppid", "comm", "args", "user", "uid", "gid", "nlwp", "rss", "vsz", "lstart")


def _process(folder: Path) -> dict[str, Any]:
    """Return what proc_pid_status(5) and its neighbours say of a process. Raises OSError when it has ended."""
    status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line)
    # The name before it is in brackets and may contain any character.
    started_ticks = int((folder / "stat").read_text().rpartition(")")[2].split()[19])
    started = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + started_ticks / os.sysconf("SC_CLK_TCK")
    uid = int(status["Uid"].split()[1])  # the effective one
    return {
        "pid": int(folder.name),
        "ppid": int(status["PPid"]),
        "comm": status["Name"],
        "args": (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip(),
        "user": _user(uid),
        "uid": uid,
        "gid": int(status["Gid"].split()[1]),
        "nlwp": int(status["Threads"]),
        "rss": int(status.get("VmRSS", "0").split()[0]),
        "vsz": int(status.get("VmSize", "0").split()[0]),
        "lstart": time.ctime(round(started)),
    }


def _user(uid: int) -> str:
    """Return the machine's name for a user; its number if it has none, as ps does."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
