"""The commands, as a person calls them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from tare.cli import tare
from tare.pins.tree import Tree


def call(tree: Tree, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    monkeypatch.chdir(tree.root)
    return CliRunner().invoke(tare, ["pins", *arguments], prog_name="tare")


def test_check_of_whole_pins(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    result = call(tree, monkeypatch, "check")
    assert (result.exit_code, result.output) == (0, "every lock is what its intent asks for\n")


def test_check_of_damaged_pins(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree.pins / "debian.toml").open("a").write("# another intent\n")
    (tree.pins / "npm.lock.json").unlink()

    result = call(tree, monkeypatch, "check")

    assert result.exit_code == 1
    assert "Run: ./tare pins update debian\n" in result.output
    assert result.output.endswith("2 problems\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["update"], "expected a CHANNEL or --all"),
        (["update", "debian", "--all"], "expected a CHANNEL or --all"),
        (["update", "debian", "bash"], "debian: expected no NAME (its lock is one), found 'bash'"),
        (["update", "go"], "go: expected a NAME, found none"),
    ],
)
def test_a_mistake_in_the_call(tree: Tree, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    result = call(tree, monkeypatch, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_an_update_without_nix(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tree.root))
    result = call(tree, monkeypatch, "update", "go", "etcd")
    assert result.exit_code == 3
    assert "nix-instantiate is not on the PATH, and this update needs it. Start with ./tare" in result.output
