"""Go packages: go.mod and go.sum tidied by the pinned toolchain, then the hashes of what is fetched."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

from tare.errors import UsageError
from tare.pins import locks
from tare.pins.context import RESOLVE_DEADLINE_SECONDS, Context, Texts, with_entry

_LANGUAGE = re.compile(r"^go (\S+)$", re.MULTILINE)


def language(go_mod: str) -> str | None:
    """Return the language version a go.mod declares; tidying keeps it."""
    found = _LANGUAGE.search(go_mod)
    return found[1] if found else None


def renew(context: Context, name: str) -> Texts:
    """Return the new texts of a package's go.mod, go.sum and lock."""
    tree = context.tree
    packages = tree.go_packages()
    if name not in packages:
        raise UsageError(f"go {name}: expected one of {', '.join(packages)} (packages/NAME built by goPackage)")
    package = packages[name]
    declared = package.folder / "go.mod"
    if not declared.is_file():
        raise UsageError(f"{tree.relative(declared)}: expected the file, found none. See docs/how-to/add-a-package.md.")
    version = package.toolchain or json.loads((tree.pins / "toolchains.json").read_text())["default_go"]
    client = context.nix.client("go", go=version)
    with tempfile.TemporaryDirectory(prefix="tare-pins-") as temporary:
        folder = Path(temporary) / "module"
        folder.mkdir()
        # As a whole: commands are told by imports in Go files, and a patch stands beside them.
        shutil.copytree(package.folder, folder, dirs_exist_ok=True)
        keep = language(declared.read_text())
        context.commands.run(
            [client / "go", "mod", "tidy", *([f"-go={keep}"] if keep else [])],
            cwd=folder,
            deadline_seconds=RESOLVE_DEADLINE_SECONDS,
        )
        go_sum = folder / "go.sum"
        go_sum.touch()
        entry = {
            "intent": locks.checksum((folder / "go.mod").read_bytes(), go_sum.read_bytes()),
            **{key: context.nix.fetch_hash(key, name, folder) for key in package.hashes},
        }
        lock = tree.pins / "go.lock.json"
        return {
            declared: (folder / "go.mod").read_text(),
            package.folder / "go.sum": go_sum.read_text(),
            lock: with_entry(lock, "packages", name, entry),
        }
