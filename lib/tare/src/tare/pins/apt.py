"""An apt of our own: the machine's client and mirror, but none of its package state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from tare.errors import TareError
from tare.pins.nix import program
from tare.process import Argument, Commands

SUITE, COMPONENT, NON_FREE = "bookworm", "main", "non-free"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

_QUERY_DEADLINE_SECONDS = 60
_TRANSFER_DEADLINE_SECONDS = 1800
_POOL = re.compile("/pool/([^/]+)/")
_URI_LINE = re.compile(r"'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+)(?: \S*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A package as apt would install it; ``file`` is its name in the archive, without the epoch."""

    name: str
    version: str
    file: str
    size_bytes: int
    component: str = COMPONENT


def parse_uris(output: str) -> Iterator[Candidate]:
    """Yield the packages of ``apt-get install --print-uris``. Raises TareError for a line of another form."""
    for line in output.splitlines():
        if not line:
            continue
        found = _URI_LINE.fullmatch(line.strip())
        parts = unquote(found["file"]).split("_") if found else []
        # Debian's archive keeps the files of each component in a pool of its own.
        pool = _POOL.search(found["uri"]) if found else None
        if found is None or len(parts) != 3 or pool is None:
            raise TareError(
                "apt-get --print-uris: expected '.../pool/COMPONENT/...' NAME_VERSION_ARCHITECTURE.deb SIZE HASH, "
                f"found {line!r}"
            )
        yield Candidate(
            name=parts[0],
            version=parts[1],
            file=unquote(found["uri"]).rpartition("/")[2],
            size_bytes=int(found["size"]),
            component=pool[1],
        )


def parse_mirror(output: str) -> str | None:
    """Return the first address with bookworm main among lines of ``ADDRESS SUITE COMPONENT``."""
    for line in output.splitlines():
        address, *rest = line.split()
        if rest == [SUITE, COMPONENT]:
            return address
    return None


def preferences(non_free: Iterable[str]) -> str:
    """Return apt's preferences (apt_preferences(5)) by which only these packages come from the component non-free."""
    rules = [*((name, 500) for name in sorted(non_free)), ("*", -1)]
    return "\n".join(f"Package: {name}\nPin: release c={NON_FREE}\nPin-Priority: {rank}\n" for name, rank in rules)


class Apt:
    """An isolated apt in ``folder``, which sees the component main and, of non-free, the packages named.

    Raises TareError when apt-get, the keyring or a mirror is not at hand.
    """

    def __init__(
        self, *, folder: Path, commands: Commands, environment: Mapping[str, str], non_free: Iterable[str] = ()
    ) -> None:
        hint = "Run it on Debian or Ubuntu; the lock is the same for every machine."
        self._get = program("apt-get", environment, hint)
        config = program("apt-config", environment, hint)
        if not KEYRING.is_file():
            raise TareError(
                f"{KEYRING} is not there, so Debian's signature cannot be checked. Install debian-archive-keyring."
            )
        self._folder = folder
        self._commands = commands
        mirror = environment.get("TARE_DEBIAN_MIRROR") or self._machine_mirror()
        # How the machine reaches its mirrors (proxy, time-outs) holds for this one too.
        network = commands.run(
            [config, "dump", "Acquire::http", "Acquire::https"], deadline_seconds=_QUERY_DEADLINE_SECONDS
        ).stdout
        self._write_configuration(mirror, network, frozenset(non_free))

    def candidates(self, packages: Sequence[str]) -> list[Candidate]:
        """Return what installing ``packages`` on an empty system takes, without recommendations."""
        argv: list[Argument] = [self._get, "install", "--yes", "--print-uris", "-qq", *packages]
        return list(parse_uris(self._run(argv, _QUERY_DEADLINE_SECONDS)))

    def update(self) -> None:
        """Read the mirror's index; apt checks its signature."""
        self._run([self._get, "update", "-qq"], _TRANSFER_DEADLINE_SECONDS)

    def download(self, candidates: Sequence[Candidate]) -> dict[str, Path]:
        """Download packages; apt checks them against the index. Returns files by package name."""
        if not candidates:
            return {}
        files = self._folder / "files"
        files.mkdir()
        wanted = [f"{candidate.name}={candidate.version}" for candidate in candidates]
        self._run([self._get, "download", "-qq", *wanted], _TRANSFER_DEADLINE_SECONDS, cwd=files)
        return {file.name.partition("_")[0]: file for file in files.iterdir()}

    def _machine_mirror(self) -> str:
        done = self._commands.run(
            [self._get, "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Identifier: Packages"],
            deadline_seconds=_QUERY_DEADLINE_SECONDS,
        )
        mirror = parse_mirror(done.stdout)
        if mirror is None:
            raise TareError(
                f"this machine's apt sources have no {SUITE!r} {COMPONENT!r} of Debian. "
                "Name a mirror of Debian: TARE_DEBIAN_MIRROR=URL ./tare pins update debian"
            )
        return mirror

    def _run(self, argv: Sequence[Argument], deadline_seconds: float, cwd: Path | None = None) -> str:
        env = {"APT_CONFIG": str(self._folder / "apt.conf")}
        return self._commands.run(argv, deadline_seconds=deadline_seconds, env=env, cwd=cwd).stdout

    def _write_configuration(self, mirror: str, network: str, non_free: frozenset[str]) -> None:
        folder = self._folder
        for name in ("lists/partial", "archives/partial", "parts"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        components = f"{COMPONENT} {NON_FREE}" if non_free else COMPONENT
        (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror} {SUITE} {components}\n")
        (folder / "preferences").write_text(preferences(non_free))
        (folder / "apt.conf").write_text(
            f"""{network}
Dir::State "{folder}"; Dir::State::lists "{folder}/lists"; Dir::State::status "{folder}/status"; Dir::Cache "{folder}";
Dir::Etc::sourcelist "{folder}/sources.list"; Dir::Etc::sourceparts "{folder}/parts"; Dir::Etc::parts "{folder}/parts";
Dir::Etc::main "{folder}/none"; Dir::Etc::preferencesparts "{folder}/parts";
Dir::Etc::preferences "{folder}/preferences";
APT::Architecture "amd64"; APT::Architectures "amd64"; APT::Install-Recommends "false"; APT::Sandbox::User "root";
Acquire::Languages "none"; Acquire::Retries "3";
"""
        )
