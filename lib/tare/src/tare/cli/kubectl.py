"""``tare kubectl``: the lab's own kubectl, against the lab's API server."""

from __future__ import annotations

import os

import click

from tare.cli.common import lab_argument, need_root
from tare.errors import ProgramMissing


@click.command(context_settings={"ignore_unknown_options": True})
@lab_argument
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def kubectl(lab: str, arguments: tuple[str, ...]) -> None:
    """Run the lab's own kubectl against the lab.

    Write -- before the ARGUMENTS, so that they reach kubectl as they are. Ends with kubectl's exit code.

    \b
    Examples:
      tare kubectl kata-hlf -- get pods -A -o wide
      tare kubectl kata-hlf -- logs -f deploy/peer
    """
    from tare.cluster import kubectl_argv
    from tare.labs import name_of
    from tare.state import StateDirectory

    need_root(f"tare kubectl {lab}")
    argv = kubectl_argv(StateDirectory.of(name_of(lab), os.environ), arguments)
    try:
        # In place of this process, so that the terminal, signals and the exit code are kubectl's.
        os.execve(argv[0], argv, dict(os.environ))
    except FileNotFoundError:
        raise ProgramMissing(argv[0]) from None
