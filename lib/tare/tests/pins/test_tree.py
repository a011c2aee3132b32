from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import UsageError
from tare.pins.go import language
from tare.pins.tree import Tree, find


def test_the_real_packages(repository: Tree) -> None:
    packages = repository.go_packages()
    assert packages["gvisor"].toolchain == "1.22.7"
    assert packages["etcd"].toolchain is None
    assert packages["etcd"].folder == repository.root / "packages/etcd"
    assert packages["fabric-chaincode"].folder == repository.root / "labs/kata-hlf/chaincode"
    assert packages["etcd"].hashes == ("vendor",)
    assert packages["fabric"].hashes == ("data", "vendor")
    assert "pause" not in packages
    assert "runtime" in repository.python_environments()
    assert repository.npm_packages()["caliper"] == repository.root / "packages/caliper"


def test_a_go_mod_keeps_its_language(repository: Tree) -> None:
    for package in repository.go_packages().values():
        assert language((package.folder / "go.mod").read_text())
    assert language("module x\n") is None


def test_from_a_folder_inside(repository: Tree) -> None:
    assert find(repository.root / "packages/etcd", {}) == repository


@pytest.mark.parametrize("prefix", ["path:", "git+file://", ""])
def test_from_elsewhere_by_the_flake(repository: Tree, tmp_path: Path, prefix: str) -> None:
    assert find(tmp_path, {"TARE_FLAKE": f"{prefix}{repository.root}"}) == repository


def test_from_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a checkout of Tare here or above, found no lib/pins/default.nix"):
        find(tmp_path, {"TARE_FLAKE": "github:someone/labs"})
