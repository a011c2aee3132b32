"""Python environments: resolved by the pinned pip for the pinned Python, wheels only, each with its hash."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tare.errors import TareError, UsageError
from tare.pins import locks, requirements
from tare.pins.context import RESOLVE_DEADLINE_SECONDS, Context, Texts, with_entry
from tare.pins.tree import Tree


def parse_report(report: dict[str, Any]) -> list[requirements.Pin]:
    """Return the pins of pip's installation report (version 1). Raises TareError when one has no sha256."""
    if report.get("version") != "1":
        raise TareError(f"pip's installation report: version: expected '1', found {report.get('version')!r}")
    pins = []
    for item in report["install"]:
        name, version = item["metadata"]["name"], item["metadata"]["version"]
        archive = item["download_info"].get("archive_info", {})
        # pip before 23.1 writes `hash` alone.
        sha256 = archive.get("hashes", {}).get("sha256") or archive.get("hash", "").removeprefix("sha256=")
        if not sha256:
            raise TareError(
                f"{name} {version}: expected a sha256 from the index, found none. Use an index that gives it."
            )
        pins.append(requirements.Pin(name=requirements.normalized(name), version=version, hashes=(sha256,)))
    return sorted(pins)


def environments_in_order(tree: Tree) -> list[str]:
    """Return all environments, each after those it includes."""
    return sorted(tree.python_environments(), key=lambda name: len(_all_included(tree.pins / f"python/{name}.in")))


def renew(context: Context, name: str) -> Texts:
    """Return the new texts of an environment's requirements and lock.

    An included environment's versions are kept, so that what is tested is what runs.
    """
    tree = context.tree
    if name not in tree.python_environments():
        names = ", ".join(tree.python_environments())
        raise UsageError(f"python {name}: expected one of {names} (lib/pins/python/NAME.in)")
    intent = tree.pins / f"python/{name}.in"
    client = context.nix.client("pip")
    with tempfile.TemporaryDirectory(prefix="tare-pins-") as temporary:
        folder = Path(temporary)
        constraints, report = folder / "constraints.txt", folder / "report.json"
        constraints.write_text("".join(_constraints(intent)))
        context.commands.run(
            [
                client / "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--disable-pip-version-check",
                "--no-cache-dir", "--only-binary", ":all:", "--report", report, "-c", constraints, "-r", intent,
            ],
            deadline_seconds=RESOLVE_DEADLINE_SECONDS,
        )  # fmt: skip
        text = requirements.render(parse_report(json.loads(report.read_text())))
        (folder / "requirements.txt").write_text(text)
        entry = {
            "intent": locks.checksum(intent.read_bytes()),
            "wheels": context.nix.fetch_hash("wheels", name, folder),
        }
    lock = tree.pins / "python.lock.json"
    return {intent.with_suffix(".txt"): text, lock: with_entry(lock, "environments", name, entry)}


def _all_included(intent: Path) -> set[Path]:
    direct = requirements.included(intent)
    return set(direct).union(*map(_all_included, direct))


def _constraints(intent: Path) -> list[str]:
    """Return the pins of included environments without hashes, which would have to cover everything."""
    pinned = [inner.with_suffix(".txt") for inner in sorted(_all_included(intent))]
    pins = [requirements.parse(line) for file in pinned if file.is_file() for line in file.read_text().splitlines()]
    return [f"{pin.name}=={pin.version}\n" for pin in pins if pin is not None]
