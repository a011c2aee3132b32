"""One writer a run: a lock on the run's folder that the kernel drops when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tare.errors import TareError

# A reader that looks whether the lock is held has it for some microseconds itself.
_PATIENCE_SECONDS = 1.0


class RunInUse(TareError):
    """Another command writes the run; ``pid`` is its process, when it is known."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        self.folder = folder
        self.pid = pid
        who = "another command" if pid is None else f"process {pid}"
        super().__init__(f"{folder} is being written by {who}: wait until it ends, or stop it, then try again")


def acquire(folder: Path, *, patience_seconds: float = _PATIENCE_SECONDS) -> int | None:
    """Return a descriptor that holds the folder's lock until it is closed, or None when another holds it.

    Raises OSError when the folder is not there.
    """
    deadline = time.monotonic() + patience_seconds
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                return None
            time.sleep(0.01)
        except BaseException:
            os.close(descriptor)
            raise


def held(folder: Path) -> bool:
    """Say whether anybody holds the folder's lock. Raises OSError when the folder is not there."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock for a short change, waiting for others. Raises RunInUse after ten seconds."""
    descriptor = acquire(folder, patience_seconds=10.0)
    if descriptor is None:
        raise RunInUse(folder, None)
    try:
        yield
    finally:
        os.close(descriptor)
