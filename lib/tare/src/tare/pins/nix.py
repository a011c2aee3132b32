"""Asks Nix for what only Nix knows: the pinned clients, and the hash of what a fetch gets."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from tare.errors import CommandFailed, TareError
from tare.pins.locks import FAKE_HASH
from tare.pins.tree import Tree
from tare.process import Commands

# Builds the Go toolchain, kit and a Python from nothing, when the store is empty.
CLIENT_DEADLINE_SECONDS = 1800
FETCH_DEADLINE_SECONDS = 3600
EVALUATION_DEADLINE_SECONDS = 120

_GOT = re.compile(r"^\s*got:\s+(sha256-[A-Za-z0-9+/]{43}=)\s*$", re.MULTILINE)


def got(stderr: str) -> str | None:
    """Return the hash that Nix found instead of the declared one; None when it tells of no mismatch."""
    found = _GOT.search(stderr)
    return found[1] if found else None


class Nix:
    """The Nix on the PATH, evaluating lib/pins/update.nix of a checkout."""

    def __init__(self, *, tree: Tree, commands: Commands, environment: Mapping[str, str]) -> None:
        self._tree = tree
        self._commands = commands
        self._instantiate = program("nix-instantiate", environment, "Start with ./tare, which sees to it.")
        self._store = program("nix-store", environment, "Start with ./tare, which sees to it.")

    def client(self, name: str, *, go: str = "") -> Path:
        """Return the folder of programs of a pinned client: "go" (of version ``go``), "pip" or "npm"."""
        derivation = self._derivation("clients", name, "--argstr", "go", go)
        done = self._commands.run([self._store, "--realise", derivation], deadline_seconds=CLIENT_DEADLINE_SECONDS)
        return Path(done.stdout.split()[-1]) / "bin"

    def fetch_hash(self, key: str, name: str, folder: Path) -> str:
        """Fetch what ``folder`` pins, and return its hash as Nix writes it (sha256-...).

        ``key`` is where a lock's entry keeps it: vendor, data, wheels or modules.
        ``folder`` holds the new intent: go.mod and go.sum, requirements.txt, or package-lock.json.
        Raises CommandFailed with the client's own words when the fetch fails.
        """
        words = ("--argstr", "name", name, "--argstr", "hash", FAKE_HASH, "--arg", "folder", str(folder))
        derivation = self._derivation("fetches", key, *words)
        if key == "vendor":
            derivation = self._vendoring(derivation, name)
        done = self._commands.run(
            [self._store, "--realise", derivation], deadline_seconds=FETCH_DEADLINE_SECONDS, check=False
        )
        found = got(done.stderr)
        if found is None:
            raise CommandFailed(done.argv, done.returncode, done.stdout, done.stderr)
        return found

    def _vendoring(self, derivation: str, name: str) -> str:
        """Return the derivation that vendors, among all that a Go package needs."""
        done = self._commands.run(
            [self._store, "--query", "--requisites", derivation], deadline_seconds=EVALUATION_DEADLINE_SECONDS
        )
        pattern = re.compile(rf"/[a-z0-9]{{32}}-{re.escape(name)}-[^/]*-vendor\.drv")
        found = [line for line in done.stdout.split() if pattern.search(line)]
        if len(found) != 1:
            raise TareError(f"packages/{name}: expected one derivation {name}-VERSION-vendor, found {found or 'none'}")
        return found[0]

    def _derivation(self, table: str, key: str, *words: str) -> str:
        expression = self._tree.pins / "update.nix"
        done = self._commands.run(
            [self._instantiate, expression, "-A", f"{table}.{key}", *words],
            deadline_seconds=EVALUATION_DEADLINE_SECONDS,
        )
        return done.stdout.strip()


def program(name: str, environment: Mapping[str, str], hint: str) -> Path:
    """Return a client's absolute path. Raises TareError, which says how to get it, when it is not on the PATH."""
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None:
        raise TareError(f"{name} is not on the PATH, and this update needs it. {hint}")
    return Path(found)
