"""The reference pages are made from the definitions, and what is committed is what they make."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click
import pytest

from tare.labs import Nix
from tare.reference import command_line, options

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "reference"
MEND = "run: python -m tare.reference docs/reference"


@click.group("demo")
def demo() -> None:
    """A group."""


@demo.command()
@click.argument("lab", metavar="LAB")
@click.option("--level", metavar="A|B", help="One of two.")
def go(lab: str, level: str) -> None:
    """Go there.

    \b
    Examples:
      demo go x
    """


def test_a_command_s_page_has_usage_examples_and_options() -> None:
    page = command_line(demo)
    assert "## `demo go`\n\n```\ndemo go [OPTIONS] LAB\n```\n\nGo there.\n\nExamples:\n\n```\ndemo go x\n```\n" in page
    assert "| `--level A\\|B` | One of two. |" in page
    assert page == command_line(demo)


def test_an_option_s_page_has_type_default_and_example() -> None:
    about = {"type": "a string", "description": "What.", "declared_in": "modules/x.nix", "example": '"x"'}
    page = options([{**about, "path": "z.last", "default": "2"}, {**about, "path": "a.first", "default": None}])
    assert page.index("a.first") < page.index("z.last")
    assert '- type: a string\n- must be set\n- example: `"x"`\n- declared in: modules/x.nix\n' in page
    assert "- default: `2`\n" in page


@pytest.mark.skipif(not DOCS.is_dir(), reason="the package is tested without its repository")
def test_the_committed_page_on_the_command_line_is_not_stale() -> None:
    from tare.cli import tare

    assert (DOCS / "command-line.md").read_text() == command_line(tare), MEND


@pytest.mark.skipif(shutil.which("nix") is None or not DOCS.is_dir(), reason="needs nix and the repository")
def test_the_committed_page_on_the_options_is_not_stale() -> None:
    definitions = Nix.find({**os.environ, "TARE_FLAKE": str(ROOT)}).evaluate("options")
    assert (DOCS / "options.md").read_text() == options(definitions), MEND
