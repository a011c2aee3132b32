from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tare import __version__
from tare.cli import tare
from tare.cli.interrupt import Interrupted
from tare.errors import CommandFailed, TareError, UsageError


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> object:
    """A command of the real group that raises what it is given."""

    def add(error: BaseException) -> None:
        @click.command()
        def broken() -> None:
            raise error

        monkeypatch.setitem(tare.commands, "broken", broken)

    return add


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("wrong"), 2),
        (TareError("broken"), 3),
        (CommandFailed(["/bin/x", "a b"], 7, "", "no such file"), 3),
        (OSError(28, "No space left on device", "/var/lib/tare/x"), 3),
        (Interrupted(15), 143),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_become_one_message_and_an_exit_code(
    runner: CliRunner, raising: object, error: BaseException, code: int
) -> None:
    raising(error)  # type: ignore[operator]
    result = runner.invoke(tare, ["broken"])
    assert result.exit_code == code
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    if isinstance(error, TareError):
        assert str(error) in result.stderr


def test_a_defect_is_not_a_missed_budget(runner: CliRunner, raising: object) -> None:
    raising(KeyError("x"))  # type: ignore[operator]
    result = runner.invoke(tare, ["broken"])
    assert result.exit_code == 3
    assert "KeyError: 'x'" in result.stderr and "This is a defect of Tare" in result.stderr


def test_debug_shows_the_traceback(runner: CliRunner, raising: object) -> None:
    raising(TareError("broken"))  # type: ignore[operator]
    result = runner.invoke(tare, ["--debug", "broken"])
    assert isinstance(result.exception, TareError)


def test_an_unknown_command_lists_the_commands(runner: CliRunner) -> None:
    result = runner.invoke(tare, ["rnu"])
    assert result.exit_code == 2
    assert "No such command 'rnu'" in result.stderr
    assert "doctor, down, kubectl, list, logs, pins, results, run, status, test, up" in result.stderr


@pytest.mark.parametrize("name", sorted(tare.commands))
def test_every_command_has_help_with_examples(runner: CliRunner, name: str) -> None:
    result = runner.invoke(tare, [name, "--help"])
    assert result.exit_code == 0
    assert "Examples:" in result.output and f"tare {name}" in result.output


def test_the_version(runner: CliRunner) -> None:
    assert runner.invoke(tare, ["--version"]).output == f"tare {__version__}\n"


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    """The best of three, in a process of its own, on a machine that may be busy."""
    program = (
        "import sys; sys.argv = ['tare', '--help']\n"
        "import atexit; atexit.register(lambda: print([m for m in ('pyarrow', 'duckdb', 'scipy', 'numpy', 'rich')"
        " if m in sys.modules]))\n"
        "from tare.cli import main; main()"
    )
    source = Path(__file__).parents[2] / "src"
    seconds = []
    for _ in range(3):
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        seconds.append(time.monotonic() - began)
    assert done.stdout.splitlines()[-1] == "[]"
    assert min(seconds) < 0.3
