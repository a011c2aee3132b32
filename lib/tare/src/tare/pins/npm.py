"""npm packages: a package-lock.json without addresses, then the hash of node_modules."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tare.errors import UsageError
from tare.pins import locks
from tare.pins.context import RESOLVE_DEADLINE_SECONDS, Context, Texts, with_entry


def renew(context: Context, name: str) -> Texts:
    """Return the new texts of a package's package-lock.json and lock.

    What package-lock.json already has stays at its version as long as package.json allows it.
    """
    tree = context.tree
    packages = tree.npm_packages()
    if name not in packages:
        raise UsageError(f"npm {name}: expected one of {', '.join(packages)} (packages/NAME with a package.json)")
    source = packages[name]
    client = context.nix.client("npm")
    with tempfile.TemporaryDirectory(prefix="tare-pins-") as temporary:
        folder = Path(temporary) / "package"
        folder.mkdir()
        for file in ("package.json", "package-lock.json"):
            if (source / file).is_file():
                shutil.copyfile(source / file, folder / file)
        context.commands.run(
            [
                client / "npm", "install", "--package-lock-only", "--ignore-scripts", "--omit=optional",
                "--omit-lockfile-registry-resolved", "--no-audit", "--no-fund", "--no-update-notifier",
            ],
            cwd=folder,
            deadline_seconds=RESOLVE_DEADLINE_SECONDS,
        )  # fmt: skip
        entry = {
            "intent": locks.checksum((source / "package.json").read_bytes()),
            "modules": context.nix.fetch_hash("modules", name, folder),
        }
        text = (folder / "package-lock.json").read_text()
    lock = tree.pins / "npm.lock.json"
    return {source / "package-lock.json": text, lock: with_entry(lock, "packages", name, entry)}
