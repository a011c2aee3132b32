"""How long tasks waited for a resource: the kernel's pressure files."""

from __future__ import annotations

import errno
from pathlib import Path

RESOURCES = ("cpu", "memory", "io")  # those whose pressure the kernel counts


def pressure_seconds(file: Path) -> float | None:
    """Return for how long some task waited, from a pressure file of the kernel; None where it counts none.

    The file's first line is ``some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS``.
    """
    try:
        text = file.read_text()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EOPNOTSUPP):  # not built in; built in and switched off
            return None
        raise
    return int(text.splitlines()[0].rpartition("total=")[2]) / 1e6


def pressures(directory: Path) -> dict[str, float | None]:
    return {f"pressure_{name}_seconds": pressure_seconds(directory / f"{name}.pressure") for name in RESOURCES}
