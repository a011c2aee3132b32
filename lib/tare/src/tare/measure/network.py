"""What the processes of some cgroups send and receive; cgroups themselves do not count it."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from tare.measure.host import PROC, interface_bytes

# The interface that CNI, and the lab's own network, give a namespace. Bridges and a sandbox's taps beside it carry
# the same bytes once more.
INTERFACE = "eth0"


class Interfaces:
    """The counters of the network namespaces that some processes are in, one for each namespace but Tare's own.

    An open file keeps its namespace, so that the counters outlive the processes. Close it.
    """

    def __init__(self, pids: Iterable[int], *, proc: Path = PROC) -> None:
        seen = {(proc / "self" / "ns" / "net").stat().st_ino}
        self._files: list[BinaryIO] = []
        for pid in sorted(pids):
            try:
                namespace = (proc / str(pid) / "ns" / "net").stat().st_ino
                if namespace not in seen:
                    self._files.append((proc / str(pid) / "net" / "dev").open("rb", buffering=0))
                    seen.add(namespace)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ESRCH, errno.EINVAL):  # the process has ended
                    raise

    def read(self) -> tuple[int, int] | None:
        """Return the bytes received and sent since the interfaces were made; None if there are none."""
        found = []
        for file in self._files:
            file.seek(0)
            found.append(interface_bytes(file.read().decode()).get(INTERFACE))
        known = [of_namespace for of_namespace in found if of_namespace is not None]
        if not known:
            return None
        return sum(received for received, _ in known), sum(sent for _, sent in known)

    def close(self) -> None:
        for file in self._files:
            file.close()
