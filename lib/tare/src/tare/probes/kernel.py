"""Try namespaces, mounts, links, netfilter and netem in namespaces that vanish with this process."""

import ctypes
import errno
import json
import os
import socket
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)

# <linux/sched.h>, <linux/mount.h>
CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000
MS_REC_PRIVATE = 0x4000 | 0x40000

# <linux/netlink.h>, <linux/rtnetlink.h>, <linux/netfilter/nf_tables.h>
NETLINK_ROUTE = 0
NETLINK_NETFILTER = 12
NEW = 0x1 | 0x4 | 0x200 | 0x400  # request, acknowledge, exclusive, create
ASK = 0x1 | 0x4
ERROR = 2
RTM_NEWLINK = 16
RTM_NEWQDISC = 36
GET_GENERATION = 10 << 8 | 16
VHOST_SET_OWNER = 0xAF01


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def ask(protocol: int, kind: int, flags: int, body: bytes) -> None:
    """Send one netlink message. Raises OSError with the kernel's answer."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as link:
        link.settimeout(2)
        link.send(struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        answer = link.recv(65536)
    if struct.unpack_from("H", answer, 4)[0] == ERROR:
        code = -struct.unpack_from("i", answer, 16)[0]
        if code:
            raise OSError(code, os.strerror(code))


def call(result: int) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def new_link(kind: str) -> str:
    information = attribute(1, kind.encode())
    body = struct.pack("BxHiII", 0, 0, 0, 0, 0) + attribute(3, kind.encode() + b"-tare\0") + attribute(18, information)
    ask(NETLINK_ROUTE, RTM_NEWLINK, NEW, body)
    return f"made a {kind} link"


def mount_namespace() -> str:
    call(libc.unshare(CLONE_NEWNS))
    call(libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None))
    return "made one"


def network_namespace() -> str:
    call(libc.unshare(CLONE_NEWNET))
    return "made one"


def overlay() -> str:
    # Its own tmpfs in a mount namespace of its own: nothing of this is ever seen outside.
    top = tempfile.gettempdir().encode()
    call(libc.mount(b"tmpfs", top, b"tmpfs", 0, None))
    for name in ("lower", "upper", "work", "merged"):
        (Path(os.fsdecode(top)) / name).mkdir()
    options = b"lowerdir=%b/lower,upperdir=%b/upper,workdir=%b/work" % (top, top, top)
    call(libc.mount(b"overlay", top + b"/merged", b"overlay", 0, options))
    return "mounted one"


def netfilter() -> str:
    try:
        ask(NETLINK_NETFILTER, GET_GENERATION, ASK, struct.pack("BBH", 0, 0, 0))
    except OSError:
        if not Path("/proc/self/net/ip_tables_names").exists():
            raise
        return "ip_tables answers"
    return "nf_tables answers"


def netem() -> str:
    body = struct.pack("BxHiIII", 0, 0, 1, 0, 0xFFFFFFFF, 0)
    body += attribute(1, b"netem\0") + attribute(2, struct.pack("6I", 0, 1000, 0, 0, 0, 0))
    ask(NETLINK_ROUTE, RTM_NEWQDISC, NEW, body)
    return "attached netem to a loopback link"


def vhost_vsock() -> str:
    import fcntl

    device = os.open("/dev/vhost-vsock", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(device, VHOST_SET_OWNER, 0)
    os.close(device)
    return "/dev/vhost-vsock takes an owner"


PROBES: tuple[tuple[str, Callable[[], str]], ...] = (
    ("network-namespaces", network_namespace),
    ("mount-namespaces", mount_namespace),
    ("overlayfs", overlay),
    ("veth", lambda: new_link("veth")),
    ("bridge", lambda: new_link("bridge")),
    ("netfilter", netfilter),
    ("netem", netem),
    ("vhost-vsock", vhost_vsock),
)


def probe() -> dict[str, tuple[bool, str]]:
    found: dict[str, tuple[bool, str]] = {}
    for name, attempt in PROBES:
        needed = [other for other in ("network-namespaces", "mount-namespaces") if not found.get(other, (True, ""))[0]]
        if needed and name != "vhost-vsock":
            found[name] = (False, f"not tried: it needs {needed[0]}")
            continue
        try:
            found[name] = (True, attempt())
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            code = errno.errorcode.get(error.errno or 0, "no answer")
            found[name] = (False, f"{where}{error.strerror or error} ({code})")
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(probe()))
