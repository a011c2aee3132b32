"""The channel ``upstream``: a publisher's file, put into the store under its name and hash."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.errors import CommandFailed, TareError, UsageError
from tare.pins.nix import program
from tare.pins.tree import Tree
from tare.process import Commands

DOWNLOAD_DEADLINE_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """An entry of upstream.toml. ``sha256`` (hexadecimal) is None until the file was seen once."""

    name: str
    version: str
    url: str
    sha256: str | None

    @property
    def store_name(self) -> str:
        """The file's name in the store, which does not allow every character (as storeName in lib/pins)."""
        return re.sub(r"~|:|%3a", "-", self.url.rpartition("/")[2])


def read(text: str, name: str) -> Artifact:
    """Return an artifact of upstream.toml's text. Raises UsageError."""
    table = tomllib.loads(text)
    entry = table.get(name)
    if not isinstance(entry, dict):
        raise UsageError(
            f"lib/pins/upstream.toml: {name}: expected an entry of this name, found {', '.join(sorted(table))}"
        )
    return Artifact(name=name, version=entry["version"], url=entry["url"], sha256=entry.get("sha256"))


def with_sha256(text: str, name: str, sha256: str) -> str:
    """Return upstream.toml's text with a hash for an entry that has none; the rest stays as it was written."""
    section = re.compile(rf"(^\[{re.escape(name)}\]\n(?:(?!\[).*\n)*?url = .*\n)", re.MULTILINE)
    new, count = section.subn(rf'\g<1>sha256 = "{sha256}" # as first seen by `tare pins pin`\n', text, count=1)
    if count != 1:
        raise UsageError(f"lib/pins/upstream.toml: {name}: expected `url = ...` on a line of its own, found none")
    return new


def pin(
    tree: Tree, name: str, *, file: Path | None = None, commands: Commands, environment: Mapping[str, str]
) -> tuple[Artifact, Path, str | None]:
    """Put an artifact into the store, from its publisher or from ``file``, and root it there.

    Returns the artifact with its hash, its store path, and the new text of upstream.toml when the hash was not
    declared (trust on first use), else None. Raises TareError when it cannot be fetched or has another hash.
    """
    hint = "Start with ./tare, which sees to it."
    prefetch, store = program("nix-prefetch-url", environment, hint), program("nix-store", environment, hint)
    text = (tree.pins / "upstream.toml").read_text()
    artifact = read(text, name)
    source = artifact.url if file is None else file.resolve().as_uri()
    try:
        done = commands.run(
            [
                prefetch, "--option", "connect-timeout", "15", "--option", "download-attempts", "2",
                "--type", "sha256", "--print-path", "--name", artifact.store_name, source,
            ],
            deadline_seconds=DOWNLOAD_DEADLINE_SECONDS,
        )  # fmt: skip
    except CommandFailed as error:
        raise TareError(
            f"{name}: {source} cannot be fetched: {_last_line(error.stderr)}\n"
            f"Fetch it on a machine that reaches it, bring it here, and run: ./tare pins pin {name} --file FILE"
        ) from error
    path = Path(done.stdout.split()[-1])
    with path.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if artifact.sha256 not in (None, found):
        raise TareError(
            f"lib/pins/upstream.toml: {name}: wanted sha256 {artifact.sha256}, found {found} at {source}. "
            "The file is another one than was pinned: find out why before you change the hash."
        )
    state = Path(environment.get("XDG_STATE_HOME") or Path(environment["HOME"]) / ".local/state")
    root = state / "tare/upstream" / name
    root.parent.mkdir(parents=True, exist_ok=True)
    commands.run([store, "--realise", path, "--add-root", root], deadline_seconds=60)
    pinned = Artifact(name=name, version=artifact.version, url=artifact.url, sha256=found)
    return pinned, path, None if artifact.sha256 else with_sha256(text, name, found)


def _last_line(stderr: str) -> str:
    lines = stderr.strip().splitlines() or ["(no output)"]
    return lines[-1].removeprefix("error: ")
