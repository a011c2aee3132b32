"""Debian packages: dependencies resolved by apt, left out what the intent excludes, each file hashed."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare.errors import TareError
from tare.pins import debian_intent, locks
from tare.pins.apt import COMPONENT, Apt, Candidate
from tare.pins.context import Context, Texts
from tare.pins.debian_intent import DebianIntent


def choose(intent: DebianIntent, resolved: Mapping[str, list[Candidate]]) -> dict[str, dict[str, Candidate]]:
    """Return the candidates kept, root -> name -> candidate: an excluded package stays only where it is asked for."""
    return {
        root: {
            candidate.name: candidate
            for candidate in sorted(candidates, key=lambda candidate: candidate.name)
            if candidate.name not in intent.excluded or candidate.name in intent.roots[root]
        }
        for root, candidates in resolved.items()
    }


def is_locked(candidate: Candidate, entry: Mapping[str, Any] | None) -> bool:
    """Say whether a lock's entry is this very file, so that its hashes hold."""
    return entry is not None and (
        entry["file"],
        entry["version"],
        entry["size"],
        entry.get("component", COMPONENT),
    ) == (candidate.file, candidate.version, candidate.size_bytes, candidate.component)


def entry_of(candidate: Candidate, content: bytes) -> dict[str, Any]:
    """Return a lock's entry. sha1 is the address in the snapshot archive; sha256 is what is checked. The component is
    told where it is not main."""
    if len(content) != candidate.size_bytes:
        raise TareError(
            f"{candidate.file}: expected {candidate.size_bytes} bytes, as the index says, found {len(content)}"
        )
    component = {} if candidate.component == COMPONENT else {"component": candidate.component}
    return {
        **component,
        "file": candidate.file,
        "version": candidate.version,
        "size": candidate.size_bytes,
        "sha1": hashlib.sha1(content).hexdigest(),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def renew(context: Context) -> Texts:
    """Return the new text of the lock; only files that it does not hold yet are downloaded."""
    pins = context.tree.pins
    intent_file, lock_file = pins / "debian.toml", pins / "debian.lock.json"
    intent = debian_intent.read(intent_file)
    old: dict[str, Any] = locks.read(lock_file)["packages"] if lock_file.is_file() else {}
    with tempfile.TemporaryDirectory(prefix="tare-pins-") as temporary:
        apt = Apt(
            folder=Path(temporary),
            commands=context.commands,
            environment=context.environment,
            non_free=intent.non_free,
        )
        apt.update()
        chosen = choose(intent, {root: apt.candidates(names) for root, names in intent.roots.items()})
        wanted = {name: candidate for root in chosen.values() for name, candidate in root.items()}
        new = [candidate for name, candidate in wanted.items() if not is_locked(candidate, old.get(name))]
        context.progress.note(f"debian: {len(wanted)} packages, {len(new)} to download")
        files = apt.download(new)
        fresh = {candidate.name: entry_of(candidate, files[candidate.name].read_bytes()) for candidate in new}
    lock = {
        "schema": locks.SCHEMA,
        "intent": locks.checksum(intent_file.read_bytes()),
        "packages": {name: fresh.get(name) or old[name] for name in wanted},
        "roots": {root: sorted(packages) for root, packages in chosen.items()},
    }
    return {lock_file: locks.render(lock)}
