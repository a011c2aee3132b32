"""The lab's daemons, kept running by one supervisord: started anew when they die, their output in log files.

A daemon is started by a short script that puts itself into the daemon's cgroup and namespaces
first, so that the daemon is there from its first instruction, and again after a restart. It
writes to its log itself: through a pipe of supervisord's, it would die with supervisord.
"""

from __future__ import annotations

import http.client
import shlex
import socket
import time
import xmlrpc.client
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tare.cgroup import CgroupTree
from tare.cluster.network import NAMESPACES
from tare.cluster.tools import Tools
from tare.errors import NotReady, TareError
from tare.process import Argument, Child, Commands

ANSWER_SECONDS = 15.0
# A daemon that dies sooner has failed to start. supervisord looks about once a second, so not less than two.
STAY_UP_SECONDS = 3
CGROUP = "supervisor"
_TAIL_LINES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A daemon. ``cgroup`` is a path in the lab's tree, ``mount_namespace`` a file that holds one."""

    name: str
    argv: Sequence[Argument]
    cgroup: str
    network_namespace: str
    mount_namespace: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


class ProgramFailed(TareError):
    """A daemon does not stay up; carries the end of its log."""

    def __init__(self, program: str, state: str, log: str) -> None:
        self.program = program
        self.log = log
        super().__init__(f"{program} does not stay up ({state}); the end of its log:\n{log}")


class Supervisor:
    """Starts supervisord and tells it what to run; its socket is open to the owner of the state directory only."""

    def __init__(self, *, directory: Path, logs: Path, tools: Tools, commands: Commands, tree: CgroupTree) -> None:
        self._directory = directory
        self._logs = logs
        self._tools = tools
        self._commands = commands
        self._tree = tree
        self._socket = directory / "socket"
        self._child: Child | None = None

    def start(self, programs: Iterable[Program]) -> None:
        """Start supervisord with all programs declared and none running. Raises NotReady."""
        self._directory.mkdir(mode=0o700)
        self._logs.mkdir(mode=0o700, exist_ok=True)
        scripts = {program.name: self._write_script(program) for program in programs}
        configuration = self._directory / "supervisord.conf"
        configuration.write_text(configuration_text(self._directory, scripts))
        self._tree.make(CGROUP)
        argv: list[Argument] = [self._tools["python"], "-m", "supervisor.supervisord", "-n", "-c", configuration]
        launcher = self._directory / "start"
        self._write_executable(launcher, self._tools.interpreter + enter_cgroup(self._tree, CGROUP) + _exec(argv))
        with (self._logs / "supervisor.log").open("ab") as output:
            self._child = self._commands.spawn([launcher], output=output)
        self._wait_for_socket()

    def run(self, program: str) -> None:
        """Have a declared program started; returns before it is ready. Raises TareError if supervisord refuses."""
        try:
            with self._call() as supervisord:
                supervisord.supervisor.startProcess(program, False)
        except xmlrpc.client.Fault as fault:
            raise TareError(f"the supervisor does not start {program}: {fault.faultString}") from None
        except OSError as error:
            raise TareError(f"the supervisor does not answer at {self._socket}: {error}") from error

    def states(self) -> dict[str, str]:
        """Return the state of every program in supervisord's words: RUNNING, BACKOFF, FATAL, ..."""
        try:
            with self._call() as supervisord:
                found = supervisord.supervisor.getAllProcessInfo()
        except OSError as error:
            raise TareError(f"the supervisor does not answer at {self._socket}: {error}") from error
        return {str(program["name"]): str(program["statename"]) for program in _records(found)}

    def check(self, programs: Sequence[str]) -> None:
        """Raise ProgramFailed if one of the programs has died too often to be started again."""
        states = self.states() if programs else {}
        for program in programs:
            state = states.get(program, "unknown")
            if state in ("FATAL", "UNKNOWN", "unknown"):
                raise ProgramFailed(program, state, self.log_tail(program))

    def log_tail(self, program: str) -> str:
        """Return the last lines of a program's log."""
        try:
            text = (self._logs / f"{program}.log").read_text(errors="replace")
        except FileNotFoundError:
            return "(no log)"
        return "\n".join(text.splitlines()[-_TAIL_LINES:]) or "(empty log)"

    def reap(self) -> None:
        """Take the exit code of a supervisord that is dead, so that no zombie stays; for use after teardown."""
        if self._child is not None:
            self._child.poll()

    def _write_script(self, program: Program) -> Path:
        script = self._directory / program.name
        self._write_executable(
            script, self._tools.interpreter + start_script(program, self._tools, self._tree, self._logs)
        )
        return script

    @staticmethod
    def _write_executable(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o700)

    def _wait_for_socket(self) -> None:
        began = time.monotonic()
        while True:
            try:
                with self._call() as supervisord:
                    supervisord.supervisor.getState()
                return
            except OSError as error:
                waited = time.monotonic() - began
                died = self._child is not None and self._child.poll() is not None
                if died or waited > ANSWER_SECONDS:
                    raise NotReady("supervisord", waited, f"{error}\n{self.log_tail('supervisor')}") from error
            time.sleep(0.02)

    def _call(self) -> xmlrpc.client.ServerProxy:
        # The host is not used; the transport goes to the socket.
        return xmlrpc.client.ServerProxy("http://supervisor", transport=_UnixTransport(self._socket))


class _UnixTransport(xmlrpc.client.Transport):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def make_connection(self, host: object) -> http.client.HTTPConnection:
        return _UnixConnection(self._path)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=ANSWER_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def configuration_text(directory: Path, scripts: Mapping[str, Path]) -> str:
    """Return supervisord's configuration: nothing starts by itself, everything started is kept running."""
    sections = [
        f"""[supervisord]
nodaemon = true
user = root
directory = {_escape(directory)}
pidfile = {_escape(directory / "pid")}
logfile = /dev/null
logfile_maxbytes = 0

[unix_http_server]
file = {_escape(directory / "socket")}
chmod = 0700

[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
"""
    ]
    for name, script in scripts.items():
        sections.append(f"""[program:{name}]
command = {shlex.quote(_escape(script))}
autostart = false
autorestart = true
startsecs = {STAY_UP_SECONDS}
startretries = 3
stopasgroup = true
killasgroup = true
stderr_logfile = NONE
stdout_logfile = NONE
""")
    return "\n".join(sections)


def start_script(program: Program, tools: Tools, tree: CgroupTree, logs: Path) -> str:
    """Return the shell script that becomes ``program``: into its cgroup, then its namespaces, then the program."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in sorted(program.environment.items())]
    enter: list[Argument] = [tools["nsenter"], f"--net={NAMESPACES / program.network_namespace}"]
    if program.mount_namespace is not None:
        enter.append(f"--mount={program.mount_namespace}")
    return (
        f"exec >> {shlex.quote(str(logs / f'{program.name}.log'))} 2>&1\n"
        + enter_cgroup(tree, program.cgroup)
        + "".join(f"{line}\n" for line in exports)
        + _exec([*enter, "--", *program.argv])
    )


def enter_cgroup(tree: CgroupTree, path: str) -> str:
    """Return the lines of a shell script that put the shell into a cgroup."""
    files = [shlex.quote(str(directory / "cgroup.procs")) for directory in tree.directories(path)]
    return "set -e\n" + "".join(f"echo $$ > {file}\n" for file in files)


def _exec(argv: Sequence[Argument]) -> str:
    return f"exec {shlex.join(str(word) for word in argv)}\n"


def _escape(path: Path) -> str:
    return str(path).replace("%", "%%")  # supervisord expands %(name)s


def _records(value: object) -> list[dict[str, object]]:
    return value if isinstance(value, list) else []
