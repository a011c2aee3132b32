"""Compares every lock with the intent it was made from; pure but for reading files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tare.errors import UsageError
from tare.pins import debian_intent, locks, requirements
from tare.pins.apt import COMPONENT, NON_FREE
from tare.pins.problem import Problem, update
from tare.pins.tree import Tree

ALL = update("--all")

_CORRECT = "Correct it."
_NIX_HASH = re.compile(r"sha256-[A-Za-z0-9+/]{43}=")
_SHA1, _SHA256 = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")
_DEB_KEYS = ("file", "sha1", "sha256", "size", "version")


def check(tree: Tree) -> list[Problem]:
    """Return everything that is wrong with the checkout's pins, in the order of files."""
    problems = [*_debian(tree), *_toolchains(tree), *_go(tree), *_python(tree), *_npm(tree)]
    return sorted(problems, key=lambda problem: (problem.file, problem.where))


def _debian(tree: Tree) -> Iterator[Problem]:
    path = tree.pins / "debian.lock.json"
    mend = update("debian")
    lock, problems = _document(tree, path, ALL)
    yield from problems
    if lock is None:
        return
    intent_file = tree.pins / "debian.toml"
    try:
        intent = debian_intent.read(intent_file)
    except UsageError as error:
        yield _intent_unreadable(tree, intent_file, error)
        return
    file = tree.relative(path)
    yield from _checksum(file, "intent", intent_file.read_bytes(), lock.get("intent"), mend)

    packages, roots = lock.get("packages", {}), lock.get("roots", {})
    yield from _same_names(file, "roots", intent.roots, roots, lambda _: mend, mend)
    for root, names in roots.items():
        for name in intent.roots.get(root, ()):
            if name not in names:
                yield Problem(file=file, where=f"roots.{root}", expected=name, found="a list without it", mend=mend)
        for name in names:
            if name not in packages:
                yield Problem(
                    file=file,
                    where=f"roots.{root}",
                    expected=f"an entry for {name} in packages",
                    found="none",
                    mend=mend,
                )
    unused = set(packages).difference(*roots.values())
    for name in sorted(unused):
        yield Problem(file=file, where=f"packages.{name}", expected="a root that holds it", found="none", mend=mend)
    for name, package in packages.items():
        yield from _deb(file, name, package, mend)
        component = package.get("component", COMPONENT)
        if component != (NON_FREE if name in intent.non_free else COMPONENT):
            allowed = f"{COMPONENT}, for debian.toml does not let it come from elsewhere"
            if name in intent.non_free:
                allowed = f"{NON_FREE}, as debian.toml says"
            yield Problem(
                file=file, where=f"packages.{name}.component", expected=allowed, found=repr(component), mend=mend
            )
    for name in sorted(intent.non_free - set(packages)):
        expected = "a root that asks for it"
        yield Problem(
            file=tree.relative(intent_file), where=f"non-free.{name}", expected=expected, found="none", mend=_CORRECT
        )


def _deb(file: str, name: str, package: Mapping[str, Any], mend: str) -> Iterator[Problem]:
    where = f"packages.{name}"
    if sorted(set(package) - {"component"}) != list(_DEB_KEYS):
        keys = ", ".join(sorted(package)) or "nothing"
        yield Problem(file=file, where=where, expected=f"the keys {', '.join(_DEB_KEYS)}", found=keys, mend=mend)
        return
    for key, pattern, what in (("sha1", _SHA1, "40"), ("sha256", _SHA256, "64")):
        if not pattern.fullmatch(str(package[key])):
            expected = f"{what} hexadecimal digits"
            yield Problem(file=file, where=f"{where}.{key}", expected=expected, found=repr(package[key]), mend=mend)
    if not str(package["file"]).startswith(f"{name}_"):
        found = repr(package["file"])
        yield Problem(file=file, where=f"{where}.file", expected=f"a file of {name}", found=found, mend=mend)


def _toolchains(tree: Tree) -> Iterator[Problem]:
    path = tree.pins / "toolchains.json"
    edit = "Edit it: `schema`, `default_go` and `go`, a table of version and sha256."
    lock, problems = _document(tree, path, edit, canonical=False)
    yield from problems
    if lock is None:
        return
    file, known = tree.relative(path), lock.get("go", {})
    for version, sha256 in known.items():
        if not _SHA256.fullmatch(str(sha256)):
            expected = "64 hexadecimal digits, the sha256 of the toolchain's zip"
            yield Problem(file=file, where=f"go.{version}", expected=expected, found=repr(sha256), mend=edit)
    wanted = {"default_go": lock.get("default_go")}
    with contextlib.suppress(UsageError):  # told with the Go packages
        wanted |= {f"packages/{name}": package.toolchain for name, package in tree.go_packages().items()}
    for who, version in wanted.items():
        if version is not None and version not in known:
            expected = f"an entry for {version}, which {who} names"
            yield Problem(file=file, where="go", expected=expected, found=", ".join(known) or "none", mend=edit)


def _go(tree: Tree) -> Iterator[Problem]:
    path = tree.pins / "go.lock.json"
    lock, problems = _document(tree, path, ALL)
    yield from problems
    try:
        packages = tree.go_packages()
    except UsageError as error:
        yield _intent_unreadable(tree, tree.root / "packages", error)
        return
    intents: dict[str, bytes] = {}
    for name, package in packages.items():
        files = (package.folder / "go.mod", package.folder / "go.sum")
        missing = [tree.relative(file) for file in files if not file.is_file()]
        for file in missing:
            yield Problem(
                file=file, where="", expected="the file", found="none",
                mend=f"Write go.mod and the imports (docs/how-to/add-a-package.md). {update('go', name)}",
            )  # fmt: skip
        if not missing:
            intents[name] = b"".join(file.read_bytes() for file in files)
    if lock is not None:
        yield from _entries(
            tree.relative(path),
            lock,
            "packages",
            {name: package.hashes for name, package in packages.items()},
            intents,
            "go",
        )


def _python(tree: Tree) -> Iterator[Problem]:
    path = tree.pins / "python.lock.json"
    lock, problems = _document(tree, path, ALL)
    yield from problems
    names = tree.python_environments()
    intents = {name: (tree.pins / f"python/{name}.in").read_bytes() for name in names}
    if lock is not None:
        yield from _entries(
            tree.relative(path), lock, "environments", dict.fromkeys(names, ("wheels",)), intents, "python"
        )
    pinned = {}
    for name in names:
        pinned[name], problems = _requirements(tree, name)
        yield from problems
    for name in names:
        yield from _agreement(tree, name, pinned)


def _requirements(tree: Tree, name: str) -> tuple[dict[str, requirements.Pin], list[Problem]]:
    """Return an environment's pins by name, and what is wrong with its requirements file."""
    path = tree.pins / f"python/{name}.txt"
    file, mend = tree.relative(path), update("python", name)
    if not path.is_file():
        return {}, [Problem(file=file, where="", expected="the file", found="none", mend=mend)]
    pins: dict[str, requirements.Pin] = {}
    problems = []
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, start=1):
        pin = requirements.parse(line)
        if pin is None:
            expected = "`name==version --hash=sha256:...`"
            problems.append(Problem(file=file, where=f"line {number}", expected=expected, found=repr(line), mend=mend))
        else:
            pins[pin.name] = pin
    if (not problems and [*pins] != sorted(pins)) or len(pins) + len(problems) != len(lines):
        problems.append(
            Problem(file=file, where="", expected="each name once, sorted", found="another order", mend=mend)
        )
    intended = requirements.intended(tree.pins / f"python/{name}.in")
    for wanted in sorted(intended - set(pins)):
        expected = f"a pin of {wanted}, which {name}.in asks for"
        problems.append(Problem(file=file, where="", expected=expected, found="none", mend=mend))
    return pins, problems


def _agreement(tree: Tree, name: str, pinned: Mapping[str, Mapping[str, requirements.Pin]]) -> Iterator[Problem]:
    """An environment that includes another holds it at the same versions: what is tested is what runs."""
    for inner in requirements.included(tree.pins / f"python/{name}.in"):
        for other in pinned.get(inner.stem, {}).values():
            mine = pinned[name].get(other.name)
            if mine is not None and mine.version != other.version:
                yield Problem(
                    file=f"lib/pins/python/{name}.txt",
                    where=other.name,
                    expected=f"{other.version} as in {inner.stem}.txt",
                    found=mine.version,
                    mend=update("python", name),
                )


def _npm(tree: Tree) -> Iterator[Problem]:
    path = tree.pins / "npm.lock.json"
    lock, problems = _document(tree, path, ALL)
    yield from problems
    packages = tree.npm_packages()
    intents = {name: (folder / "package.json").read_bytes() for name, folder in packages.items()}
    if lock is not None:
        yield from _entries(
            tree.relative(path), lock, "packages", dict.fromkeys(packages, ("modules",)), intents, "npm"
        )
    for name, folder in packages.items():
        yield from _package_lock(tree, name, folder)


def _package_lock(tree: Tree, name: str, folder: Path) -> Iterator[Problem]:
    path = folder / "package-lock.json"
    file, mend = tree.relative(path), update("npm", name)
    try:
        modules = json.loads(path.read_text())["packages"]
        wanted = json.loads((folder / "package.json").read_text()).get("dependencies", {})
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        expected = "a package-lock.json and a package.json, with `packages`"
        yield Problem(file=file, where="", expected=expected, found=f"{type(error).__name__}: {error}", mend=mend)
        return
    found = modules.get("", {}).get("dependencies", {})
    if found != wanted:
        expected = f"the dependencies of package.json, {json.dumps(wanted)}"
        yield Problem(file=file, where="packages", expected=expected, found=json.dumps(found), mend=mend)
    for module, entry in modules.items():
        if "resolved" in entry and not entry.get("link"):
            expected = "no address (`resolved`), so that each site uses its own registry"
            yield Problem(file=file, where=module, expected=expected, found=str(entry["resolved"]), mend=mend)
        if module and not entry.get("link") and not entry.get("inBundle") and "integrity" not in entry:
            yield Problem(file=file, where=module, expected="a hash (`integrity`)", found="none", mend=mend)


def _document(
    tree: Tree, path: Path, mend: str, *, canonical: bool = True
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """Return a lock, None when it cannot be used at all, and what is wrong with its text."""
    file = tree.relative(path)
    try:
        document = locks.read(path)
    except locks.LockUnreadable as error:
        problem = Problem(file=file, where="", expected=error.expected, found=error.found, mend=error.mend)
        return None, [problem]
    problems = []
    text = path.read_text()
    if canonical and text != locks.render(document):
        expected, found = "sorted keys and one space an indent", "another order or form"
        problems.append(Problem(file=file, where="", expected=expected, found=found, mend=mend))
    if address := re.search(r"https?://[^\s\"']+", text):
        expected = "no address, so that each site uses its own mirrors"
        problems.append(Problem(file=file, where="", expected=expected, found=address[0], mend=mend))
    return document, problems


def _entries(
    file: str,
    lock: Mapping[str, Any],
    table: str,
    hashes: Mapping[str, Sequence[str]],
    intents: Mapping[str, bytes],
    channel: str,
) -> Iterator[Problem]:
    """What is wrong with a table of entries ``{"intent": ..., KEY: HASH}``.

    ``hashes`` holds the keys of hashes for each name, ``intents`` the intents that can be read.
    """
    entries = lock.get(table, {})
    yield from _same_names(file, table, hashes, entries, lambda name: update(channel, name), ALL)
    for name, entry in entries.items():
        if name not in hashes:
            continue
        mend = update(channel, name)
        if name in intents:
            yield from _checksum(file, f"{table}.{name}.intent", intents[name], entry.get("intent"), mend)
        for key in hashes[name]:
            found = entry.get(key)
            if not _NIX_HASH.fullmatch(str(found)) or found == locks.FAKE_HASH:
                where = f"{table}.{name}.{key}"
                yield Problem(file=file, where=where, expected="the hash of a fetch", found=repr(found), mend=mend)
        if surplus := sorted(set(entry) - {"intent", *hashes[name]}):
            where, found = f"{table}.{name}", ", ".join(surplus)
            yield Problem(file=file, where=where, expected="no other keys", found=found, mend=mend)


def _checksum(file: str, where: str, intent: bytes, found: object, mend: str) -> Iterator[Problem]:
    expected = hashlib.sha256(intent).hexdigest()
    if found != expected:
        yield Problem(
            file=file, where=where, expected=f"{expected}, the intent's checksum", found=str(found), mend=mend
        )


def _same_names(
    file: str, table: str, wanted: Iterable[str], found: Mapping[str, Any], missing: Any, surplus: str
) -> Iterator[Problem]:
    wanted = set(wanted)
    for name in sorted(wanted - set(found)):
        yield Problem(file=file, where=f"{table}.{name}", expected="an entry", found="none", mend=missing(name))
    for name in sorted(set(found) - wanted):
        yield Problem(
            file=file, where=f"{table}.{name}", expected="no entry (nothing asks for it)", found="one", mend=surplus
        )


def _intent_unreadable(tree: Tree, path: Path, error: UsageError) -> Problem:
    message = str(error).removeprefix(f"{path}: ")
    return Problem(file=tree.relative(path), where="", expected="a readable intent", found=message, mend=_CORRECT)


def listed(problems: Sequence[Problem]) -> str:
    """Return all problems as one message, a line each."""
    return "\n".join(str(problem) for problem in problems)
