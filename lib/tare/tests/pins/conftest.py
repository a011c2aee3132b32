"""A copy of the repository's pins, which a test may damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tare.pins.tree import Tree, find


@pytest.fixture(scope="session")
def repository() -> Tree:
    """The checkout that these tests belong to."""
    return find(Path(__file__), {})


@pytest.fixture
def tree(repository: Tree, tmp_path: Path) -> Tree:
    for folder in ("lib/pins", "packages", "labs"):
        shutil.copytree(repository.root / folder, tmp_path / folder)
    return Tree(root=tmp_path)
