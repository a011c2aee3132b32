"""What a node sees of the machine: a mount namespace in which all it writes stays in the lab's state directory.

The standard places (/run, /var/lib, /var/log) are the node's own, so its daemons run with their
own defaults and two nodes never meet. Below /sys a node sees its own CPUs only, so that its CPU
manager hands out no other's. The kernel settings that a kubelet writes for the whole machine are
plain files to it, and to it alone: a runtime that mounts /proc for a sandbox may do so only where
nothing hides a part of it.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from tare.cluster.tools import Tools
from tare.errors import CommandFailed
from tare.process import Argument, Commands

SYSFS = Path("/sys/devices/system")
PRIVATE = ("run", "var/lib", "var/log", "var/run")
# What the kubelet sets (k8s.io/kubernetes/pkg/util/sysctl), and wants to read back.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}
_SETTINGS = "/run/tare/kernel-settings"
_DEADLINE_SECONDS = 10.0


class NodeView:
    """The mount namespace of one node, kept alive by a file so that a daemon started anew enters the same one.

    ``directory`` is the node's folder in the state directory; ``host(path)`` says where a path of
    the node is outside of it.
    """

    def __init__(self, *, directory: Path, tools: Tools, commands: Commands) -> None:
        self.directory = directory
        self._tools = tools
        self._commands = commands
        self._keeper = directory / "view"
        self.namespace = self._keeper / "namespace"

    def host(self, path: str) -> Path:
        """Return the place outside the view of an absolute path below one of the private folders."""
        return self.directory / "root" / path.lstrip("/")

    def make(self, cpus: Sequence[int]) -> None:
        """Make the view. The mounts are below the node's folder, the namespace ends with its last process."""
        bindings = self._private() + self._cpus(cpus)
        self._write_kernel_settings()
        self._keeper.mkdir()
        self.namespace.touch()
        mount = shlex.quote(str(self._tools["mount"]))
        # A file can hold a mount namespace only where mounts are private; and what hides the sources goes last.
        self._run(["mount", "--bind", self._keeper, self._keeper])
        self._run(["mount", "--make-private", self._keeper])
        bindings.sort(key=lambda binding: self.directory.is_relative_to(binding[1]))
        script = [f"{mount} --bind {shlex.quote(str(ours))} {shlex.quote(str(seen))}" for ours, seen in bindings]
        script.append(f"{mount} --make-rshared /")  # the kubelet's volumes have to reach containers that ask for it
        enter = ["unshare", f"--mount={self.namespace}", "--propagation", "slave"]
        self._keep_namespace([*enter, "--", str(self._tools["busybox"]), "sh", "-euc", "\n".join(script)])

    def hiding_kernel_settings(self, argv: Sequence[Argument]) -> list[Argument]:
        """Return the arguments that run ``argv``, in the view, with files for the kernel's settings.

        All other mounts are still those of the view, in both directions.
        """
        mount = shlex.quote(str(self._tools["mount"]))
        script = ["set -e", f"{mount} --make-private /proc"]
        for name in KERNEL_SETTINGS:
            seen = f"/proc/sys/{name}"
            script.append(f"[ ! -e {seen} ] || {mount} --bind {_SETTINGS}/{name} {seen}")
        script.append('exec "$@"')
        enter: list[Argument] = [self._tools["unshare"], "--mount", "--propagation", "unchanged", "--"]
        return [*enter, self._tools["busybox"], "sh", "-c", "\n".join(script), "sh", *argv]

    def _keep_namespace(self, argv: Sequence[str | Path]) -> None:
        """Run ``argv``, which makes a mount namespace and binds it to the file, on a CPU where the kernel takes it.

        A namespace may be bound only in one with a lower number. Since Linux 6.18 every CPU hands out numbers from
        a stock of its own, so below a namespace that is itself new (a container), the one made on another CPU than
        that may have a lower number. On the same CPU it never has.
        """
        own = os.sched_getaffinity(0)
        try:
            for cpu in sorted(own):
                os.sched_setaffinity(0, {cpu})
                try:
                    return self._run(argv)
                except CommandFailed as error:
                    if "/ns/mnt on " not in error.stderr:
                        raise
                    refused = error
            raise refused
        finally:
            os.sched_setaffinity(0, own)

    def _run(self, argv: Sequence[str | Path]) -> None:
        self._commands.run([self._tools[str(argv[0])], *argv[1:]], deadline_seconds=_DEADLINE_SECONDS)

    def _private(self) -> list[tuple[Path, Path]]:
        bindings = []
        for name in PRIVATE:
            seen = Path("/", name)
            if seen.is_dir() and not seen.is_symlink():
                ours = self.host(name)
                ours.mkdir(parents=True)
                bindings.append((ours, seen))
        self.host("/run/tmp").mkdir()
        self.host("/run/tare").mkdir(mode=0o700)
        return bindings

    def _write_kernel_settings(self) -> None:
        for name, value in KERNEL_SETTINGS.items():
            file = self.host(f"{_SETTINGS}/{name}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{value}\n")

    def _cpus(self, cpus: Sequence[int]) -> list[tuple[Path, Path]]:
        copy_cpu_topology(SYSFS, self.directory / "sys", cpus)
        return [(ours, SYSFS / ours.name) for ours in sorted((self.directory / "sys").iterdir())]


def copy_cpu_topology(source: Path, target: Path, cpus: Sequence[int]) -> None:
    """Write to ``target`` what ``source`` (as /sys/devices/system) says of CPUs and memory nodes, of ``cpus`` only."""
    numbers = ",".join(map(str, cpus))
    (target / "cpu").mkdir(parents=True)
    for name in ("online", "possible", "present"):
        (target / "cpu" / name).write_text(f"{numbers}\n")
    for cpu in cpus:
        (target / "cpu" / f"cpu{cpu}").mkdir()
        for name in ("cache", "online", "topology"):
            _copy(source / "cpu" / f"cpu{cpu}" / name, target / "cpu" / f"cpu{cpu}" / name)
    for node in sorted((source / "node").glob("node[0-9]*")):
        inside = [cpu for cpu in cpus if (node / f"cpu{cpu}").exists()]
        if not inside:
            continue
        ours = target / "node" / node.name
        ours.mkdir(parents=True)
        for name in ("distance", "hugepages", "meminfo"):
            _copy(node / name, ours / name)
        (ours / "cpulist").write_text(",".join(map(str, inside)) + "\n")
        for cpu in inside:
            (ours / f"cpu{cpu}").symlink_to(f"../../cpu/cpu{cpu}")


def _copy(source: Path, target: Path) -> None:
    """Copy readable files and folders of sysfs, whose sizes are not what they claim; what is not there is left out."""
    if source.is_dir():
        target.mkdir()
        for entry in source.iterdir():
            if not entry.is_symlink():
                _copy(entry, target / entry.name)
    elif source.exists() and source.stat().st_mode & 0o444:
        with source.open("rb") as incoming, target.open("wb") as outgoing:
            shutil.copyfileobj(incoming, outgoing)
