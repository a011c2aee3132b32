from __future__ import annotations

import hashlib
import os
import shutil
import tomllib
from pathlib import Path

import pytest

from tare.errors import TareError, UsageError
from tare.pins import upstream
from tare.pins.tree import Tree
from tare.process import Commands

TEXT = """# Why.
[first]
version = "1"
url = "https://publisher.example/first-1~rc1.tar.xz"
source = "somewhere"

[second]
version = "2"
url = "https://publisher.example/second.tar.xz"
sha256 = "{}"
"""

needs_nix = pytest.mark.skipif(shutil.which("nix-prefetch-url") is None, reason="needs nix-prefetch-url")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "lib/pins").mkdir(parents=True)
    return Tree(root=tmp_path)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "artifact"
    path.write_bytes(b"an artifact of tare's tests\n")
    return path


def test_an_artifact_has_a_name_the_store_allows() -> None:
    assert upstream.read(TEXT, "first").store_name == "first-1-rc1.tar.xz"


def test_an_artifact_that_is_not_declared() -> None:
    with pytest.raises(UsageError, match=r"upstream.toml: third: expected an entry of this name, found first, second"):
        upstream.read(TEXT, "third")


def test_a_hash_is_written_into_its_own_entry() -> None:
    new = upstream.with_sha256(TEXT, "first", "f" * 64)
    before, after = tomllib.loads(TEXT), tomllib.loads(new)
    assert after["first"].pop("sha256") == "f" * 64
    assert after == before
    assert new.replace(f'sha256 = "{"f" * 64}" # as first seen by `tare pins pin`\n', "") == TEXT


def test_an_entry_whose_address_is_elsewhere() -> None:
    with pytest.raises(UsageError, match=r"first: expected `url = ...` on a line of its own, found none"):
        upstream.with_sha256('first.version = "1"\nfirst.url = "u"\n', "first", "f" * 64)


@needs_nix
def test_the_first_file_seen_is_trusted(tree: Tree, environment: dict[str, str], file: Path) -> None:
    (tree.pins / "upstream.toml").write_text(TEXT)

    artifact, path, text = upstream.pin(
        tree, "first", file=file, commands=Commands(environment), environment=environment
    )

    assert artifact.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert path.read_bytes() == file.read_bytes()
    assert path.name.endswith("-first-1-rc1.tar.xz")
    assert (Path(environment["XDG_STATE_HOME"]) / "tare/upstream/first").resolve() == path
    assert text is not None and artifact.sha256 in text


@needs_nix
def test_the_declared_file(tree: Tree, environment: dict[str, str], file: Path) -> None:
    (tree.pins / "upstream.toml").write_text(TEXT.format(hashlib.sha256(file.read_bytes()).hexdigest()))

    _, path, text = upstream.pin(tree, "second", file=file, commands=Commands(environment), environment=environment)

    assert path.read_bytes() == file.read_bytes()
    assert text is None


@needs_nix
def test_another_file_than_declared(tree: Tree, environment: dict[str, str], file: Path) -> None:
    (tree.pins / "upstream.toml").write_text(TEXT.format("0" * 64))
    found = hashlib.sha256(file.read_bytes()).hexdigest()

    with pytest.raises(TareError, match=f"second: wanted sha256 {'0' * 64}, found {found} at file://"):
        upstream.pin(tree, "second", file=file, commands=Commands(environment), environment=environment)


@needs_nix
def test_a_publisher_out_of_reach(tree: Tree, environment: dict[str, str]) -> None:
    (tree.pins / "upstream.toml").write_text(TEXT.replace("https://publisher.example", "file:///nonexistent"))

    with pytest.raises(TareError, match=r"first: file:///nonexistent/first-1~rc1.tar.xz cannot be fetched: "):
        upstream.pin(tree, "first", commands=Commands(environment), environment=environment)
