"""Where intents and locks are in a checkout of the repository."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.errors import UsageError

_MARK = Path("lib/pins/default.nix")

# `source = ./.;`, the folder with go.mod, and `go = "1.22.7";`, as packages/*/default.nix write them.
_SOURCE = re.compile(r"^\s*source = (\.\.?/[^;\s]*);", re.MULTILINE)
_GO = re.compile(r'^\s*go = "([^"]+)";', re.MULTILINE)
_DATA = re.compile(r'\bgoModuleData \{[^{}]*?\bpackage = "([^"]+)";')
_BUILDER = re.compile(r"\bgoPackage \{")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPackage:
    """A package built by goPackage: the folder of its go.mod, and its toolchain when it names one.

    ``hashes`` are the keys of its lock entry that hold the hash of a fetch: "vendor", and "data" when goModuleData
    takes files out of its modules.
    """

    name: str
    folder: Path
    toolchain: str | None
    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A checkout; ``root`` is absolute."""

    root: Path

    @property
    def pins(self) -> Path:
        return self.root / "lib/pins"

    def relative(self, path: Path) -> str:
        """Return how messages call a file of the checkout."""
        return str(path.relative_to(self.root))

    def go_packages(self) -> dict[str, GoPackage]:
        """Return the packages built by goPackage, by name: the name of their folder in packages/.

        Raises UsageError when one does not say its source as ``source = ./...;`` on a line of its own.
        """
        files = sorted(self.root.glob("packages/**/default.nix"))
        with_data = {name for file in files for name in _DATA.findall(file.read_text())}
        found = {}
        for file in sorted(self.root.glob("packages/*/default.nix")):
            text = file.read_text()
            if not _BUILDER.search(text):
                continue
            source, toolchain = _SOURCE.search(text), _GO.search(text)
            if source is None:
                raise UsageError(
                    f"{self.relative(file)}: source: expected `source = ./.;` or another relative path on a line "
                    "of its own, found none. Write it so: `tare pins` reads it there."
                )
            found[file.parent.name] = GoPackage(
                name=file.parent.name,
                folder=(file.parent / source[1]).resolve(),
                toolchain=toolchain[1] if toolchain else None,
                hashes=("data", "vendor") if file.parent.name in with_data else ("vendor",),
            )
        return found

    def python_environments(self) -> list[str]:
        return sorted(file.stem for file in (self.pins / "python").glob("*.in"))

    def npm_packages(self) -> dict[str, Path]:
        """Return the folders of packages with a package.json, by name."""
        return {file.parent.name: file.parent for file in sorted(self.root.glob("packages/*/package.json"))}


def find(start: Path, environment: Mapping[str, str]) -> Tree:
    """Return the checkout around ``start``, else the one that $TARE_FLAKE names. Raises UsageError."""
    candidates = [start, *start.parents]
    flake = re.fullmatch(r"(?:path:|git\+file://)?(/[^?#]*)", environment.get("TARE_FLAKE", ""))
    if flake:
        candidates.append(Path(flake[1]))
    for folder in candidates:
        if (folder / _MARK).is_file():
            return Tree(root=folder.resolve())
    raise UsageError(
        f"{start}: expected a checkout of Tare here or above, found no {_MARK}. "
        "Run in the checkout whose locks are meant: they are files in it."
    )
