"""Turns the argument LAB into a built lab: a folder with ``lab.json``, or a name that Nix builds.

Names belong to the flake in ``$TARE_FLAKE``, by default the one in the current folder.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tare import manifest
from tare.errors import CommandFailed, CommandTimeout, TareError, UsageError
from tare.process import Argument, Child, Commands
from tare.progress import Progress

# A first build compiles Kubernetes; on two cores that takes most of an hour.
BUILD_DEADLINE_SECONDS = 6 * 3600
EVALUATION_DEADLINE_SECONDS = 120
_POLL_SECONDS = 0.2

FEATURES = ("--extra-experimental-features", "nix-command flakes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """A built lab. ``source`` is ``source.json``: the identity of the flake it was built from."""

    folder: Path
    manifest: manifest.Manifest
    source: Mapping[str, Any]


class BuildFailed(TareError):
    """Nix could not build a lab; carries the end of what it printed."""

    def __init__(self, installable: str, returncode: int, tail: str) -> None:
        self.installable = installable
        self.returncode = returncode
        self.tail = tail
        super().__init__(f"nix build {installable}: exit code {returncode}\n{tail}")


class Nix:
    """The ``nix`` on the PATH, asked about one flake."""

    def __init__(self, *, flake: str, program: Path, commands: Commands) -> None:
        self.flake = flake
        self._program = program
        self._commands = commands

    @classmethod
    def find(cls, environment: Mapping[str, str]) -> Nix:
        """Return Nix as the environment has it. Raises TareError when it is not on the PATH."""
        program = shutil.which("nix", path=environment.get("PATH"))
        if program is None:
            raise TareError(
                "nix is not on the PATH, so no lab can be built. Start with ./tare, which sees to it, "
                "or name the folder of a built lab."
            )
        return cls(
            flake=environment.get("TARE_FLAKE", "."), program=Path(program), commands=Commands(dict(environment))
        )

    def evaluate(self, attribute: str) -> Any:
        """Return a flake's attribute as JSON values. Raises CommandFailed, CommandTimeout."""
        done = self._commands.run(
            [self._program, *FEATURES, "eval", "--json", f"{self.flake}#{attribute}"],
            deadline_seconds=EVALUATION_DEADLINE_SECONDS,
        )
        return json.loads(done.stdout)

    def labs(self) -> Mapping[str, str]:
        """Return the title of each lab by name. Raises TareError with Nix's own words."""
        try:
            titles: dict[str, str] = self.evaluate("labs")
        except CommandFailed as error:
            raise TareError(
                f"the flake {self.flake!r} has no list of labs:\n{last_lines(error.stderr)}\n"
                "Run in the folder of a flake with labs, or set TARE_FLAKE."
            ) from error
        return titles

    def build(self, attribute: str, *, link: Path, progress: Progress) -> Path:
        """Build an attribute and return its store path, which ``link`` keeps from garbage collection.

        What Nix begins is told as notes. Raises BuildFailed, CommandTimeout.
        """
        installable = f"{self.flake}#{attribute}"
        link.parent.mkdir(parents=True, exist_ok=True)
        argv: list[Argument] = [self._program, *FEATURES, "build", "--log-format", "raw"]
        argv += ["--out-link", link, installable]
        with tempfile.TemporaryFile() as output:
            child = self._commands.spawn(argv, output=output)
            try:
                returncode = _follow(child, output.fileno(), progress)
            finally:
                if child.poll() is None:
                    child.stop(grace_seconds=10)
            if returncode != 0:
                size = os.fstat(output.fileno()).st_size
                tail = os.pread(output.fileno(), 64 * 1024, max(0, size - 64 * 1024)).decode(errors="replace")
                raise BuildFailed(installable, returncode, last_lines(tail))
        return link.readlink()


def resolve(argument: str, *, link: Path, environment: Mapping[str, str], progress: Progress) -> Lab:
    """Return the lab that LAB means, built if it is a name.

    ``link`` becomes the garbage collection root of a lab built by name. Raises UsageError for an unknown name
    or a folder without ``lab.json``, BuildFailed, ManifestError.
    """
    if is_folder(argument):
        return load(Path(argument))
    nix = Nix.find(environment)
    with progress.phase(f"build lab {argument}"):
        titles = nix.labs()
        if argument not in titles:
            raise unknown(argument, titles)
        folder = nix.build(f"lab-{argument}", link=link, progress=progress)
    return load(folder)


def is_folder(argument: str) -> bool:
    """Say whether LAB is a folder rather than a name: a slash or a dot makes it one."""
    return "/" in argument or argument in (".", "..")


def name_of(argument: str) -> str:
    """Return the lab's name without building anything: what state and results are filed under."""
    return load(Path(argument)).manifest.name if is_folder(argument) else argument


def load(folder: Path) -> Lab:
    """Read a built lab. Raises UsageError when the folder holds none, ManifestError."""
    path = folder / "lab.json"
    if not path.is_file():
        raise UsageError(f"{folder} holds no lab.json. Name a lab, or the folder that `nix build .#lab-NAME` made.")
    source = folder / "source.json"
    return Lab(
        folder=folder.resolve(),
        manifest=manifest.read(path),
        source=json.loads(source.read_text()) if source.is_file() else {},
    )


def unknown(name: str, titles: Mapping[str, str]) -> UsageError:
    """Return the error for a name that is no lab: the labs there are, and the nearest."""
    near = difflib.get_close_matches(name, titles, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    listed = "".join(f"\n  {known}  {title}" for known, title in sorted(titles.items()))
    return UsageError(f"lab {name!r} is not known.{hint} The labs are:{listed}")


def last_lines(text: str, count: int = 25) -> str:
    """Return the last lines of a program's output that say something."""
    return "\n".join(deque((line for line in text.splitlines() if line.strip()), count))


_BEGINS = re.compile(r"^(building|copying path|fetching) '(?:/nix/store/[a-z0-9]{32}-)?([^']+?)(?:\.drv)?'")


def begun(line: str) -> str | None:
    """Return what Nix says it begins in a line of its log, without store hashes; None for any other line."""
    found = _BEGINS.match(line)
    return f"{found[1]} {found[2]}" if found else None


def _follow(child: Child, handle: int, progress: Progress) -> int:
    """Wait for Nix to end, telling what it begins; return its exit code."""
    position, rest = 0, ""
    for _ in range(int(BUILD_DEADLINE_SECONDS / _POLL_SECONDS)):
        returncode = child.poll()
        text = os.pread(handle, 1 << 20, position)
        position += len(text)
        *lines, rest = (rest + text.decode(errors="replace")).split("\n")
        for line in lines:
            if (what := begun(line)) is not None:
                progress.note(what)
        if returncode is not None:
            return returncode
        time.sleep(_POLL_SECONDS)
    raise CommandTimeout(child.argv, BUILD_DEADLINE_SECONDS)
