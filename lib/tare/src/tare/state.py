"""Where a lab keeps what it needs while it is up, and who may change it."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tare.errors import TareError, UsageError
from tare.ledger import Ledger

DEFAULT_ROOT = Path("/var/lib/tare")
ROOT_VARIABLE = "TARE_STATE_DIR"
KEPT = "kept"

# The kernel takes 107 bytes for the path of a socket, and the longest below the state directory,
# the supervisor's with its temporary suffix, adds 24.
_MAX_PATH_BYTES = 80


class LabInUse(TareError):
    """Another command owns the lab; ``pid`` is its process, when it is known."""

    def __init__(self, lab: str, pid: int | None) -> None:
        self.lab = lab
        self.pid = pid
        who = "another command" if pid is None else f"process {pid}{_command_line(pid)}"
        super().__init__(f"the lab {lab} is in use by {who}: wait until it ends, or stop it (Ctrl-C), then try again")


class StateDirectory:
    """The directory of one lab: $TARE_STATE_DIR/<lab>, by default /var/lib/tare/<lab>, mode 0700.

    It exists from the first thing a lab makes to the last it removes. Whoever changes the lab
    holds ``own()``, a lock the kernel drops when the owner dies.
    """

    def __init__(self, *, root: Path, lab: str) -> None:
        if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", lab):
            raise UsageError(f"lab name {lab!r}: expected at most 40 lower-case letters, digits and inner hyphens")
        self.lab = lab
        self.root = root.absolute()
        self.path = self.root / lab
        if len(os.fsencode(self.path)) > _MAX_PATH_BYTES:
            raise UsageError(
                f"{self.path}: longer than {_MAX_PATH_BYTES} bytes, so sockets in it could not be opened; "
                f"set {ROOT_VARIABLE} to a shorter path"
            )
        self.made_root = False  # whether own() has made ``root``
        self._lock: int | None = None

    @classmethod
    def of(cls, lab: str, environment: Mapping[str, str] | None = None) -> StateDirectory:
        """Return the state directory of a lab; ``environment`` (default: the process's) may move its root."""
        return cls(root=state_root(environment), lab=lab)

    @classmethod
    def all(cls, environment: Mapping[str, str] | None = None) -> tuple[StateDirectory, ...]:
        """Return the state directories there are, by name."""
        root = state_root(environment)
        if not root.is_dir():
            return ()
        return tuple(cls(root=root, lab=path.name) for path in sorted(root.iterdir()) if (path / "ledger").exists())

    @property
    def ledger_path(self) -> Path:
        return self.path / "ledger"

    @property
    def logs(self) -> Path:
        """The folder with one log file a program."""
        return self.path / "logs"

    def exists(self) -> bool:
        return self.path.is_dir()

    def owner(self) -> int | None:
        """Return the pid of the command that owns the lab now (-1: unknown), or None when nobody does."""
        if self._lock is not None:
            return os.getpid()
        try:
            descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _pid_in(descriptor) or -1
        finally:
            os.close(descriptor)
        return None

    def kept_up(self) -> bool:
        """Return whether the lab was left up on purpose (``tare up``)."""
        if not self.ledger_path.exists():
            return False
        with Ledger(self.ledger_path) as ledger:
            return ledger.fact(KEPT) == "yes"

    @contextmanager
    def own(self) -> Iterator[None]:
        """Own the lab until the context ends, making its directory; may be nested. Raises LabInUse."""
        if self._lock is not None:
            yield
            return
        self._lock = self._acquire()
        try:
            yield
        finally:
            os.close(self._lock)
            self._lock = None

    @property
    def _lock_path(self) -> Path:
        return self.path / "lock"

    def _acquire(self) -> int:
        while True:
            try:
                self.made_root = self.made_root or not self.root.exists()
                self.root.mkdir(parents=True, exist_ok=True)
                self.path.mkdir(mode=0o700, exist_ok=True)
                descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise TareError(
                    f"{error.filename}: cannot be made: {error.strerror}; root is needed to write there, or set "
                    f"{ROOT_VARIABLE} to a folder of your own"
                ) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pid = _pid_in(descriptor)
                os.close(descriptor)
                raise LabInUse(self.lab, pid) from None
            if self._is_lock(descriptor):
                # The pid is for a message only, and teardown has to own a lab on a full disk too.
                with suppress(OSError):
                    os.pwrite(descriptor, f"{os.getpid():<20}\n".encode(), 0)
                return descriptor
            os.close(descriptor)  # the owner before us has just removed the directory with its lock: make it anew

    def _is_lock(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._lock_path.stat())
        except FileNotFoundError:
            return False


def state_root(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder that holds the labs' state directories."""
    return Path((os.environ if environment is None else environment).get(ROOT_VARIABLE) or DEFAULT_ROOT)


def _pid_in(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
    return int(text) if text.isdigit() else None


def _command_line(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    shown = " ".join(b" ".join(words).decode(errors="replace").split())
    return f" ({shown[:120]})" if shown else ""
