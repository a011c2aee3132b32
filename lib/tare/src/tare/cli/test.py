"""``tare test``: the experiments on a lab and their budgets, by pytest with Tare's plugin."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tare.cli.common import need_root
from tare.errors import UsageError


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--lab", metavar="LAB", required=True, help="The lab whose tests are run.")
@click.argument("arguments", metavar="[PYTEST ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
def test(lab: str, arguments: tuple[str, ...]) -> None:
    """Judge a lab's budgets: build it, measure what its tests ask for, take it down.

    Runs tests/test_LAB.py and tests/test_LAB_*.py of the current folder with pytest and Tare's plugin, and ends with
    pytest's exit code. What follows is pytest's: `pytest --help` lists it, the plugin's options under "performance
    experiments". In Tare's own repository `./tare test` without --lab runs the project's tests instead.

    \b
    Examples:
      tare test --lab kata-hlf
      tare test --lab kata-hlf --tare-dry-run
      tare test --lab kata-hlf -k throughput --undecided=xfail
      tare test --lab kata-hlf --tare-report=report.html --junit-xml=junit.xml
    """
    files = files_of(Path("tests"), lab)
    if not {"--tare-dry-run", "--collect-only", "--co"} & set(arguments):
        need_root(f"tare test --lab {lab}")
    import pytest

    sys.exit(pytest.main(["-p", "tare.plugin", *map(str, files), *arguments]))


def files_of(folder: Path, lab: str) -> list[Path]:
    """Return the files with a lab's tests. Raises UsageError, which lists those there are, when it has none."""
    name = lab.replace("-", "_")
    files = sorted({*folder.glob(f"test_{name}.py"), *folder.glob(f"test_{name}_*.py")})
    if not files:
        there = ", ".join(str(path) for path in sorted(folder.glob("test_*.py"))) or "none"
        raise UsageError(
            f"--lab {lab}: neither {folder}/test_{name}.py nor {folder}/test_{name}_*.py in the current folder; "
            f"files with tests: {there}"
        )
    return files
