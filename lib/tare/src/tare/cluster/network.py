"""The lab's network: a namespace for the control plane that holds a bridge, and one for each node.

Nothing of it is in the machine's own namespace, so that no address, link or port of a lab
meets those of the machine or of another lab.
"""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from collections.abc import Sequence
from pathlib import Path

from tare.cluster import mounts
from tare.cluster.addresses import Addresses
from tare.cluster.tools import Tools
from tare.errors import TareError
from tare.ledger import Ledger
from tare.process import Argument, Commands

NAMESPACES = Path("/run/netns")  # where iproute2 keeps named namespaces
BRIDGE = "tare0"
_SYSCTLS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/route_localnet": "1",
    "net/bridge/bridge-nf-call-iptables": "1",
}
_DEADLINE_SECONDS = 10.0
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class NameTaken(TareError):
    """Something of the name a lab would use is there, and this lab's ledger does not have it."""

    def __init__(self, what: str, mend: str) -> None:
        super().__init__(
            f"{what} exists already, and not in this lab's ledger: a lab of the same name is perhaps up under another "
            f"TARE_STATE_DIR, then take that down; otherwise remove it with `{mend}`"
        )


def control_plane_namespace(lab: str) -> str:
    return f"tare-{lab}"


def node_namespace(lab: str, node: str) -> str:
    return f"tare-{lab}-{node}"


class Network:
    """Makes a lab's network and runs programs in it."""

    def __init__(self, *, lab: str, addresses: Addresses, tools: Tools, commands: Commands) -> None:
        self._addresses = addresses
        self._tools = tools
        self._commands = commands
        self.control_plane = control_plane_namespace(lab)
        self.nodes = {node: node_namespace(lab, node) for node in addresses.nodes}

    def within(self, namespace: str, argv: Sequence[Argument]) -> list[str]:
        """Return the arguments that run ``argv`` in a namespace. ``ip netns exec`` would hide the cgroups: it mounts
        a new /sys."""
        return [str(self._tools["nsenter"]), f"--net={NAMESPACES / namespace}", "--", *map(str, argv)]

    def claim(self, ledger: Ledger) -> None:
        """Write down what ``make`` will make. Raises NameTaken, with nothing written, if a namespace is there."""
        namespaces = [self.control_plane, *self.nodes.values()]
        for namespace in namespaces:
            if (NAMESPACES / namespace).exists():
                raise NameTaken(f"the network namespace {namespace}", f"ip netns del {namespace}")
        # iproute2 makes the folder and mounts it on itself with the first namespace. If that was a lab's, the last
        # lab removes both.
        mounted = NAMESPACES in mounts.below(NAMESPACES)
        others = [path.name for path in NAMESPACES.iterdir()] if mounted else []
        others_are_labs = bool(others) and all(other.startswith("tare-") for other in others)
        if others_are_labs or not NAMESPACES.exists():
            ledger.record("namespace-folder", str(NAMESPACES))
        if others_are_labs or not mounted:
            ledger.record("namespace-mount", str(NAMESPACES))
        for namespace in namespaces:
            ledger.record("network-namespace", namespace)

    def make(self) -> None:
        """Make the namespaces and everything in them."""
        namespaces = [self.control_plane, *self.nodes.values()]
        self._ip([f"netns add {namespace}" for namespace in namespaces])
        self._ip(control_plane_lines(self._addresses, self.nodes), self.control_plane)
        for node, namespace in self.nodes.items():
            self._ip(node_lines(self._addresses, node), namespace)
        for namespace in namespaces:
            self._set_sysctls(namespace)

    def _ip(self, lines: Sequence[str], namespace: str | None = None) -> None:
        argv = [str(self._tools["ip"]), "-batch", "-"]
        if namespace is not None:
            argv = self.within(namespace, argv)
        self._commands.run(argv, stdin="".join(f"{line}\n" for line in lines), deadline_seconds=_DEADLINE_SECONDS)

    def _set_sysctls(self, namespace: str) -> None:
        # /proc/sys/net is that of the reader's namespace. Bridge filtering is a module's: absent without it.
        script = "".join(
            f"if [ -e /proc/sys/{name} ]; then echo {value} > /proc/sys/{name}; fi\n"
            for name, value in _SYSCTLS.items()
        )
        argv = self.within(namespace, [self._tools["busybox"], "sh", "-euc", script])
        self._commands.run(argv, deadline_seconds=_DEADLINE_SECONDS)


def control_plane_lines(addresses: Addresses, namespaces: dict[str, str]) -> list[str]:
    """Return the lines for ``ip -batch`` in the control plane's namespace: the bridge, and a link to each node."""
    lines = [
        "link set lo up",
        f"link add {BRIDGE} type bridge",
        f"address add {addresses.control_plane}/{addresses.prefix} dev {BRIDGE}",
        f"link set {BRIDGE} up",
    ]
    for index, (node, address) in enumerate(addresses.nodes.items()):
        lines += [
            f"link add node{index} type veth peer name eth0 netns {namespaces[node]}",
            f"link set node{index} master {BRIDGE} up",
            f"route add {address.pod_cidr} via {address.address}",
        ]
    return lines


def node_lines(addresses: Addresses, node: str) -> list[str]:
    """Return the lines for ``ip -batch`` in a node's namespace: its address, and the way to the other nodes' pods."""
    own = addresses.nodes[node]
    return [
        "link set lo up",
        f"address add {own.address}/{own.prefix} dev eth0",
        "link set eth0 up",
        f"route add default via {addresses.control_plane}",
        *(f"route add {other.pod_cidr} via {other.address}" for name, other in addresses.nodes.items() if name != node),
    ]


def open_socket(
    namespace: str, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM, protocol: int = -1
) -> socket.socket:
    """Return a socket, of TCP by default, that lives in a network namespace, wherever it is used from. Raises OSError.

    ``namespace`` is a name of iproute2's or the absolute path of a namespace's file.
    """
    outcome: list[socket.socket | OSError] = []

    def enter_and_open() -> None:
        # A namespace is a thread's: this one changes its own for good, so it is used for nothing else.
        try:
            with (NAMESPACES / namespace).open() as file:
                if _libc.setns(file.fileno(), _CLONE_NEWNET) != 0:
                    code = ctypes.get_errno()
                    raise OSError(code, os.strerror(code), file.name)
            outcome.append(socket.socket(family, kind, protocol))
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=enter_and_open)
    thread.start()
    thread.join()
    if isinstance(outcome[0], OSError):
        raise outcome[0]
    return outcome[0]
