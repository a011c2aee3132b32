"""``tare test``: the experiments on a lab and their budgets, by pytest with Tare's plugin."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tare.cli.common import need_root
from tare.errors import UsageError


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--lab", metavar="LAB", required=True, help="The lab whose tests are run: those of tests/test_LAB.py.")
@click.argument("arguments", metavar="[PYTEST ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
def test(lab: str, arguments: tuple[str, ...]) -> None:
    """Judge a lab's budgets: build it, measure what its tests ask for, take it down.

    Runs tests/test_LAB.py in the current folder with pytest and Tare's plugin, and ends with pytest's exit
    code. What follows is pytest's: `pytest --help` lists it, the plugin's options under "performance experiments".
    In Tare's own repository `./tare test` without --lab runs the project's tests instead.

    \b
    Examples:
      tare test --lab kata-hlf
      tare test --lab kata-hlf --tare-dry-run
      tare test --lab kata-hlf -k throughput --undecided=xfail
      tare test --lab kata-hlf --tare-report=report.html --junit-xml=junit.xml
    """
    file = test_file(Path("tests"), lab)
    if not {"--tare-dry-run", "--collect-only", "--co"} & set(arguments):
        need_root(f"tare test --lab {lab}")
    import pytest

    sys.exit(pytest.main(["-p", "tare.plugin", str(file), *arguments]))


def test_file(folder: Path, lab: str) -> Path:
    """Return the file with a lab's tests. Raises UsageError, which lists those there are, when it is not there."""
    file = folder / f"test_{lab.replace('-', '_')}.py"
    if not file.is_file():
        there = ", ".join(str(path) for path in sorted(folder.glob("test_*.py"))) or "none"
        raise UsageError(f"--lab {lab}: no file {file} in the current folder; files with tests: {there}")
    return file
