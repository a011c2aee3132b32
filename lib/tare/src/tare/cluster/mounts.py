"""Mount points, as this process sees them."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_MNT_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)


def parse(mountinfo: str) -> list[Path]:
    """Return the mount points in the text of /proc/self/mountinfo, in the order they were mounted."""
    return [Path(line.split()[4].encode().decode("unicode_escape")) for line in mountinfo.splitlines()]


def below(top: Path) -> list[Path]:
    """Return the mount points at and below ``top``, in the order they were mounted; one mounted twice is there twice.

    ``os.path.ismount`` does not see a folder that is mounted on itself.
    """
    found = parse(Path("/proc/self/mountinfo").read_text())
    return [point for point in found if point.is_relative_to(top)]


def unmount(path: Path) -> None:
    """Unmount lazily: a process that is just dying may still hold what is mounted there. Raises OSError."""
    if _libc.umount2(os.fsencode(path), _MNT_DETACH) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(path))
