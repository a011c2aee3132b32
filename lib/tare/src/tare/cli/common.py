"""What several commands share: options, the state's place, the check for root."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tare.errors import UsageError
from tare.progress import Reporter, choose

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPE_COLUMNS = 160

lab_argument = click.argument("lab", metavar="LAB")

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON on stdout, progress as JSON lines on stderr."
)

results_option = click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder for the results, one folder a lab in it.",
)


def reporter(*, as_json: bool = False) -> Reporter:
    """Return the progress that suits stderr."""
    return choose(sys.stderr, as_json=as_json)


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))


def print_rich(what: RenderableType) -> None:
    """Print a table or text to stdout. A pipe has no width, so tables get one that holds them, and no padding."""
    from rich.console import Console

    console = Console(highlight=False)
    if console.is_terminal:
        console.print(what)
        return
    wide = Console(highlight=False, width=PIPE_COLUMNS)
    with wide.capture() as captured:
        wide.print(what)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def need_root(command: str) -> None:
    """Raise UsageError unless this is root: what needs it, and how to go on."""
    if os.geteuid() != 0:
        raise UsageError(
            "the embedded cluster makes network namespaces, mounts and cgroups, which only root may: "
            f"run it as root, for example `sudo ./{command}`. `tare list` and `tare doctor` need no root."
        )
