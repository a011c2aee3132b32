"""``tare logs``: what the programs of a lab that is up, or was left over, have written."""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path

import click

from tare.cli.common import lab_argument
from tare.errors import UsageError


@click.command()
@lab_argument
@click.argument("program", required=False)
@click.option("-n", "--lines", type=click.IntRange(min=0), default=50, show_default=True, help="How many last lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on, until Ctrl-C.")
def logs(lab: str, program: str | None, lines: int, follow: bool) -> None:
    """Show what the programs of a lab have written.

    Without PROGRAM, list the logs there are. They are there while the lab is.
    Logs of pods: tare kubectl LAB -- logs POD.

    \b
    Examples:
      tare logs kata-hlf
      tare logs kata-hlf etcd -n 100
      tare logs kata-hlf kube-apiserver --follow
    """
    from tare.labs import name_of
    from tare.state import StateDirectory

    state = StateDirectory.of(name_of(lab), os.environ)
    if not state.logs.is_dir():
        raise UsageError(f"{state.lab} is not up and left no logs: there is no {state.logs}")
    known = {str(path.relative_to(state.logs).with_suffix("")): path for path in sorted(state.logs.rglob("*.log"))}
    if program is None:
        for name, path in known.items():
            click.echo(f"{name}  {path.stat().st_size} B")
        return
    if program not in known:
        raise UsageError(f"{state.lab} has no log of {program!r}; there are: {', '.join(known) or 'none'}")
    _show(known[program], lines, follow)


def _show(path: Path, lines: int, follow: bool) -> None:
    with path.open(errors="replace") as file:
        click.echo("".join(deque(file, lines)), nl=False)
        while follow:
            line = file.readline()
            if line:
                click.echo(line, nl=False)
            else:
                time.sleep(0.2)
